import assert from 'node:assert/strict'
import { closeSync, existsSync, readFileSync, statSync, writeSync } from 'node:fs'
import { mkdtempDisposable, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { openOutput, truncateOutput } from '../../../src/up/supervisor/start-run.ts'

test('truncateOutput() keeps the last half of a file that is too large, in whole lines', async () => {
  await using dir = await mkdtempDisposable(join(tmpdir(), 'crab-out-'))
  const path = join(dir.path, 'x.log')
  truncateOutput(path, 100)
  assert.equal(existsSync(path), false)
  const lines = Array.from({ length: 30 }, (_, at) => `line ${at}\n`)
  await writeFile(path, lines.join(''))
  truncateOutput(path, 1000)
  assert.equal(readFileSync(path, 'utf8'), lines.join(''))
  truncateOutput(path, 100)
  assert.equal(readFileSync(path, 'utf8'), lines.slice(-6).join(''))
})

test('openOutput() creates the folder and the file for their owner only, but no home', async () => {
  await using dir = await mkdtempDisposable(join(tmpdir(), 'crab-out-'))
  const path = join(dir.path, 'logs', 'x.log')
  const fd = openOutput(path)!
  writeSync(fd, 'x')
  closeSync(fd)
  closeSync(openOutput(path)!)
  assert.equal(readFileSync(path, 'utf8'), 'x')
  assert.equal(statSync(path).mode & 0o777, 0o600)
  assert.equal(openOutput(join(dir.path, 'gone', 'logs', 'x.log')), undefined)
  assert.equal(existsSync(join(dir.path, 'gone')), false)
})
