import assert from 'node:assert/strict'
import { test } from 'node:test'
import { programName, versionLine } from '../../bin/program.ts'
import { VERSION } from '../../src/core/base/version.ts'

test('programName() depends only on the name of the file', () => {
  for (const path of ['crabup', './crabup', '/usr/bin/crabup', 'C:\\bin\\CRABUP.EXE', 'bin/crabup.ts']) {
    assert.equal(programName(path), 'crabup', path)
  }
  for (const path of ['crabtalk', '/crabup/crabtalk', 'crabup-2', 'notcrabup', '']) {
    assert.equal(programName(path), 'crabtalk', path)
  }
  assert.equal(programName(undefined), 'crabtalk')
})

test('programName() returns crabup for the program that an update set aside, when the command is self', () => {
  for (const path of ['crabtalk.old', 'bin/crabtalk.old', 'C:\\bin\\crabtalk.old.exe']) {
    assert.equal(programName(path, ['self', 'update', '--rollback']), 'crabup', path)
    assert.equal(programName(path, ['send', 'self']), 'crabtalk', path)
  }
  assert.equal(programName('crabtalk', ['self']), 'crabtalk')
})

test('versionLine() answers --version and nothing else', () => {
  for (const word of ['--version', '-V', 'version']) {
    assert.equal(versionLine('crabup', [word]), `crabup ${VERSION}\n`)
    assert.equal(versionLine('crabup', [word, '--help']), undefined)
  }
  assert.equal(versionLine('crabtalk', []), undefined)
})
