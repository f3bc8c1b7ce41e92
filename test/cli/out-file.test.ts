import assert from 'node:assert/strict'
import { chmod, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { openOutFile } from '../../src/cli/out-file.ts'
import { makeTestHost } from '../support/test-host.ts'

for (const mode of [0o664, 0o606, 0o600]) {
  test(`openOutFile() keeps the mode ${mode.toString(8)} of a file that it replaces`, async () => {
    await using at = await makeTestHost()
    const path = join(at.folder, 'out.txt')
    await writeFile(path, 'old')
    await chmod(path, mode)
    await (await openOutFile('out.txt', at.host))?.('new')
    assert.equal(await readFile(path, 'utf8'), 'new')
    assert.equal((await stat(path)).mode & 0o777, mode)
  })
}
