import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { groupMemory, memoryByProc, memoryByPs } from '../../../src/core/process/group-memory.ts'
import { openProcessHost } from '../../../src/core/process/process-host.ts'

const MB = 1024 * 1024
/** Fills 60 MB, and starts a child that fills 40 MB more. */
const SCRIPT = `const b = Buffer.alloc(Number(process.argv[1]) * ${MB}, 1)
if (process.argv[1] === '60') require('node:child_process').spawn(process.execPath, ['-e', process.argv[2], '40', ''], { stdio: 'inherit' })
console.log('ready'); setInterval(() => b, 1000)`

for (const [name, source] of Object.entries({
  proc: memoryByProc(),
  ps: memoryByPs(),
  'this system': undefined,
})) {
  test(`groupMemory() by ${name} counts all processes of a group, and none of another`, async () => {
    await using host = openProcessHost({ pid: process.pid })
    const start = async (mb: string) => {
      const argv = [process.execPath, '-e', SCRIPT, mb, SCRIPT] as const
      const running = await host.start({ argv, cwd: '/', env: { PATH: process.env['PATH']! } })
      let text = ''
      while (text.split('ready').length <= (mb === '60' ? 2 : 1))
        text += (await once(running.stdout, 'data'))[0]
      return running
    }
    const [two, one] = await Promise.all([start('60'), start('1')])
    const memory = await groupMemory([two.pid, one.pid, 2 ** 30], source)
    assert.deepEqual([...memory.keys()].toSorted(), [two.pid, one.pid].toSorted())
    assert.ok(memory.get(two.pid)! > 140 * MB, `${memory.get(two.pid)}`)
    assert.ok(memory.get(one.pid)! > 20 * MB && memory.get(one.pid)! < 100 * MB, `${memory.get(one.pid)}`)
    await two.end()
    assert.deepEqual([...(await groupMemory([two.pid], source))], [])
  })
}

test('groupMemory() of nothing reads nothing', async () => {
  assert.equal((await groupMemory([], () => assert.fail('looked'))).size, 0)
})
