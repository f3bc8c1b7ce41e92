import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempDisposable, readFile, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { readEnvFile, setInEnvFile } from '../../../src/core/config/env-file.ts'

const VALUES = { KEY_A: 'sk-a b$HOME"`\\n#x%', KEY_B: 'naïve=1', KEY_C: '' }

test('setInEnvFile() writes privately what readEnvFile(), Node and a shell read alike', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'crab '))
  const path = join(folder.path, 'new', 'service.env')
  await setInEnvFile(path, VALUES)
  assert.deepEqual(await readEnvFile(path), VALUES)
  const script = 'console.log(JSON.stringify([process.env.KEY_A, process.env.KEY_B, process.env.KEY_C]))'
  const node = await run(process.execPath, [`--env-file=${path}`, '-e', script])
  const shell = await run('/bin/sh', ['-c', `. "$0" && printf '%s|%s|%s' "$KEY_A" "$KEY_B" "$KEY_C"`, path])
  assert.deepEqual(JSON.parse(node), Object.values(VALUES))
  assert.equal(shell, Object.values(VALUES).join('|'))
  assert.equal((await stat(path)).mode & 0o777, 0o600)
})

test('setInEnvFile() replaces an existing variable and keeps everything else', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'crab '))
  const path = join(folder.path, 'service.env')
  await writeFile(path, "# mine\nexport KEY_A=old\nOTHER=1 # stays\nconstructor=\n\nKEY_A='older'\n")
  await setInEnvFile(path, { KEY_A: 'new' })
  assert.equal(await readFile(path, 'utf8'), "# mine\nOTHER=1 # stays\nconstructor=\nKEY_A='new'\n")
  await setInEnvFile(path, { KEY_B: 'more' })
  assert.deepEqual(await readEnvFile(path), { OTHER: '1', constructor: '', KEY_A: 'new', KEY_B: 'more' })
})

test('setInEnvFile() replaces a multi-line value as a whole', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'crab '))
  const path = join(folder.path, 'service.env')
  await writeFile(path, "KEY_A='one\nKEY_B=two'\nOTHER=1\n")
  await setInEnvFile(path, { KEY_A: 'new' })
  assert.equal(await readFile(path, 'utf8'), "OTHER=1\nKEY_A='new'\n")
})

for (const text of ["NOTE='it\nA=1\n", 'NOTE="it\n', 'NOTE=`it\n', '\ufeffNOTE= \n', "# it's\nNOTE=\n"]) {
  test(`setInEnvFile() writes a value that is read after ${JSON.stringify(text)}, and does not change others`, async () => {
    await using folder = await mkdtempDisposable(join(tmpdir(), 'crab '))
    const path = join(folder.path, 'service.env')
    await writeFile(path, text)
    const before = await readEnvFile(path)
    await setInEnvFile(path, { KEY_A: 'x"`y' })
    assert.deepEqual(await readEnvFile(path), { ...before, KEY_A: 'x"`y' })
    await setInEnvFile(path, { KEY_A: 'z' })
    assert.deepEqual(await readEnvFile(path), { ...before, KEY_A: 'z' })
  })
}

test('setInEnvFile() does not change text inside a backtick value', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'crab '))
  const path = join(folder.path, 'service.env')
  await writeFile(path, 'A=`one\nKEY_A=two`\nB=1\n')
  await setInEnvFile(path, { KEY_A: 'new' })
  assert.deepEqual(await readEnvFile(path), { A: 'one\nKEY_A=two', B: '1', KEY_A: 'new' })
})

test('setInEnvFile() rejects a value that its readers would read differently, and writes nothing', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'crab '))
  const path = join(folder.path, 'service.env')
  for (const value of ["it's", 'two\nlines', 'bell\u0007']) {
    await assert.rejects(setInEnvFile(path, { KEY_A: value }), (reason: Error & { kind: string }) => {
      assert.deepEqual([reason.kind, reason.message.includes(value)], ['invalid', false])
      return true
    })
  }
  assert.deepEqual(await readEnvFile(path), {})
})

async function run(file: string, args: readonly string[]): Promise<string> {
  return (await promisify(execFile)(file, args, { env: { PATH: process.env['PATH'] } })).stdout
}
