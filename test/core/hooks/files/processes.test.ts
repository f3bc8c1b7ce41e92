import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempDisposable, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const program = fileURLToPath(new URL('edit-program.ts', import.meta.url))

test('concurrent edits of one file by several processes are all kept', async () => {
  await using dir = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  const path = join(dir.path, 'file')
  const names = ['ann', 'bob', 'cyd']
  const counts = Array.from({ length: 20 }, (_, index) => index)
  await writeFile(path, names.map((name) => `${name}:\n`).join(''))
  const run = promisify(execFile)
  await Promise.all(
    names.map((name) => run(process.execPath, [program, dir.path, name, String(counts.length)])),
  )
  const expected = names.map((name) => `${name}:${counts.map((count) => ` ${count}`).join('')}\n`)
  assert.equal(await readFile(path, 'utf8'), expected.join(''))
})
