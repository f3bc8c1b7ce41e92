import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { openProcessHost } from '../../../src/core/process/process-host.ts'
import {
  type ListedProcess,
  listByProc,
  listByPs,
  readFamilies,
} from '../../../src/core/process/process-table.ts'

const MB = 1024 * 1024
/** Fills 60 MB, and starts a child in its own session that fills 40 MB more. */
const SCRIPT = `const b = Buffer.alloc(Number(process.argv[1]) * ${MB}, 1)
if (process.argv[1] === '60') require('node:child_process').spawn(process.execPath, ['-e', process.argv[2], '40', ''], { stdio: 'inherit', detached: true })
console.log('ready'); setInterval(() => b, 1000)`

for (const [name, list] of Object.entries({ proc: listByProc(), ps: listByPs() })) {
  test(`readFamilies() by ${name} counts all descendants of a process, also in another session`, async () => {
    await using host = openProcessHost({ pid: process.pid })
    const argv = [process.execPath, '-e', SCRIPT, '60', SCRIPT] as const
    const begun = Date.now()
    const running = await host.start({ argv, cwd: '/', env: { PATH: process.env['PATH']! } })
    let text = ''
    while (text.split('ready').length <= 2) text += (await once(running.stdout, 'data'))[0]
    const families = await readFamilies([running.pid, 2 ** 30], list)
    assert.deepEqual([...families.keys()], [running.pid])
    const { memoryBytes, pids, startedAt } = families.get(running.pid)!
    assert.equal(pids[0], running.pid)
    assert.ok(pids.length >= 2, `${pids}`)
    assert.ok(memoryBytes > 140 * MB, `${memoryBytes}`)
    assert.ok(Math.abs(startedAt - begun) < 60_000, `${startedAt - begun}`)
    assert.ok(!pids.includes(process.pid))
  })
}

test('readFamilies() does not treat an older process as a child, even if it names that parent', async () => {
  const one = (pid: number, parent: number, startedAt: number): ListedProcess => {
    return { pid, parent, group: pid, startedAt, bytes: pid }
  }
  const list = async () => [one(1, 0, 0), one(10, 1, 50_000), one(11, 10, 60_000), one(12, 10, 10_000)]
  const family = (await readFamilies([10], list)).get(10)
  assert.deepEqual(family, { startedAt: 50_000, memoryBytes: 21, pids: [10, 11] })
})

test('readFamilies() returns nothing where processes cannot be listed, and reads nothing for an empty list', async () => {
  assert.equal((await readFamilies([1], listByProc('/nowhere'))).size, 0)
  assert.equal((await readFamilies([1], listByPs('/nowhere'))).size, 0)
  assert.equal((await readFamilies([], () => assert.fail('looked'))).size, 0)
})
