import assert from 'node:assert/strict'
import { mkdir, mkdtempDisposable, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { OWNER_TAG } from '../../../src/core/process/owner-tag.ts'
import {
  readNamespace,
  readOwnerTag,
  readProcess,
  readProcesses,
  readUser,
} from '../../../src/core/process/proc-files.ts'

const REST = '0 -1 4194304 100 0 0 0 1 2 0 0 20 0 1 0 4711 2700000 200 18446744073709551615'

test('readProcess() reads session, start time and state, for any program name', async () => {
  for (const name of ['sh', 'a b', ')', '(x) Z 1 2 3 ', 'two\nlines']) {
    await using proc = await procWith({ 12: { stat: `12 (${name}) S 1 10 11 ${REST}` } })
    assert.deepEqual(await readProcess(proc.path, 12), {
      pid: 12,
      session: 11,
      startTime: 4711,
      isRunning: true,
    })
  }
})

test('readProcess() returns nothing for exited and missing processes', async () => {
  await using proc = await procWith({ 12: { stat: `12 (sh) Z 1 10 11 ${REST}` } })
  assert.equal((await readProcess(proc.path, 12))?.isRunning, false)
  assert.equal(await readProcess(proc.path, 13), undefined)
})

test('readProcesses() reads processes only', async () => {
  const stat = `12 (sh) S 1 10 11 ${REST}`
  await using proc = await procWith({ 12: { stat }, self: { stat }, 13: {} })
  assert.deepEqual(
    (await readProcesses(proc.path)).map(({ pid }) => pid),
    [12],
  )
})

test('readOwnerTag() finds the tag among other variables', async () => {
  const environ = `X${OWNER_TAG}=wrong\0A=1\0${OWNER_TAG}=1.2.3.x.\0B=${OWNER_TAG}=no\0`
  await using proc = await procWith({ 12: { environ }, 13: { environ: 'A=1\0' } })
  assert.equal(await readOwnerTag(proc.path, 12), '1.2.3.x.')
  assert.equal(await readOwnerTag(proc.path, 13), undefined)
  assert.equal(await readOwnerTag(proc.path, 14), undefined)
})

test('readNamespace() and readUser() know this process, and return nothing for a missing one', async () => {
  assert.match((await readNamespace('/proc', process.pid))!, /^\d+$/)
  assert.equal(await readUser('/proc', process.pid), process.getuid!())
  assert.equal(await readNamespace('/proc', 2 ** 30), undefined)
  assert.equal(await readUser('/proc', 2 ** 30), undefined)
})

/** Creates a folder that looks like /proc. */
async function procWith(processes: Record<string, Record<string, string>>) {
  const folder = await mkdtempDisposable(join(tmpdir(), 'crab-proc-'))
  for (const [pid, files] of Object.entries(processes)) {
    await mkdir(join(folder.path, pid))
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder.path, pid, name), text)
  }
  return folder
}
