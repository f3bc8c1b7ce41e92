import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, statSync } from 'node:fs'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { DiskStorage } from '../../../src/core/storage/disk-storage.ts'
import { until } from '../../support/until.ts'
import { makeHeader, toLine } from './samples.ts'

const program = join(import.meta.dirname, 'storage-program.ts')
const run = promisify(execFile)
const EACH = 12

test('8 processes that append to one session under its lease lose and tear nothing', async () => {
  await using home = await openHome()
  const { id } = await home.storage.createSession(makeHeader(), [])
  const names = Array.from({ length: 8 }, (_, index) => `p${index}`)
  await Promise.all(
    names.map((name) => run(process.execPath, [program, 'append', home.path, id, name, String(EACH)])),
  )
  const { lines, warnings } = await home.storage.read(id)
  assert.deepEqual(warnings, [])
  assert.deepEqual(
    lines.map(({ seq }) => seq),
    Array.from({ length: 8 * EACH * 2 }, (_, index) => index + 1),
  )
  const contents = lines.map((line) => (line.kind === 'entry' ? line.content : ''))
  for (const name of names) {
    const own = contents.filter((content) => content.startsWith(`${name} `))
    assert.deepEqual(
      own,
      Array.from({ length: EACH }, (_, index) => `${name} ${index}`),
    )
  }
  for (const [index, content] of contents.entries()) assert.equal(content === 'answer', index % 2 === 1)
})

test('append() leaves the file unchanged when the system writes only a part of it', async () => {
  await using home = await openHome()
  const script = 'ulimit -f 16 && exec "$0" "$@"'
  const { stdout } = await run('sh', ['-c', script, process.execPath, program, 'fill', home.path])
  const { id, end, kind, isUnchanged } = JSON.parse(stdout)
  assert.deepEqual([kind, isUnchanged], ['storage', true])
  await home.storage.append(id, end, [toLine('after')])
  const { lines, warnings } = await home.storage.read(id)
  assert.deepEqual([lines.length, warnings], [end.seq + 1, []])
})

test('a writer that is killed at any moment leaves whole lines, and the next append continues', async () => {
  await using home = await openHome()
  const { id, cursor } = await home.storage.createSession(makeHeader(), [])
  const file = join(home.path, 'sessions', `${id}.jsonl`)
  let { bytes } = cursor
  for (let round = 0; round < 4; round += 1) {
    const writer = spawn(process.execPath, [program, 'append', home.path, id, `r${round}`, '100000'])
    await until('it has written', () => statSync(file).size > bytes + 2000 * round)
    writer.kill('SIGKILL')
    await once(writer, 'exit')
    const part = await home.storage.read(id)
    assert.deepEqual(part.warnings, [])
    bytes = (await home.storage.append(id, part.cursor, [toLine('after')])).bytes
    assert.equal(readFileSync(file).length, bytes)
  }
})

async function openHome() {
  const dir = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  return {
    path: dir.path,
    storage: new DiskStorage({ sessions: join(dir.path, 'sessions'), index: join(dir.path, 'index') }),
    [Symbol.asyncDispose]: () => dir.remove(),
  }
}
