import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { startGuarded } from '../../../src/core/process/guarded-process.ts'
import { linuxPlatform } from '../../../src/core/process/linux.ts'
import { readProcess } from '../../../src/core/process/proc-files.ts'
import { livingWith } from '../../support/orphans.ts'
import { makeScript, markedScript, openTestHost, readFirstLine } from '../../support/process-platforms.ts'
import { until } from '../../support/until.ts'

// Tests what Linux can do beyond groups; groups-start.test.ts and groups-end.test.ts test what every POSIX system can.
const ESCAPES = {
  'that leaves the group': 'timeout 600 sleep 600 & echo $!; wait',
  'that leaves the session': 'setsid sleep 600 & echo $!; wait',
  'that leaves the session and loses its parent': 'setsid sh -c "sleep 600 & echo \\$!" & wait',
  'that leaves the group and hides its environment': 'env -i timeout 600 sleep 600 & echo $!; wait',
}

describe('linuxPlatform()', { concurrency: 4 }, () => {
  for (const [what, script] of Object.entries(ESCAPES)) {
    test(`end() ends a process ${what}, and members() shows it`, async () => {
      const { word, command } = markedScript(script)
      await using host = openTestHost(linuxPlatform())
      await using running = await host.start(command)
      const pid = Number(await readFirstLine(running))
      await until('it is a member', async () => (await running.members()).includes(pid))
      await running.end()
      assert.deepEqual(await livingWith(word), [])
      assert.ok(!(await readProcess('/proc', pid))?.isRunning)
    })
  }

  test('end() kills a stubborn process that left the session', async () => {
    const stubborn = "trap '' TERM HUP; echo ready; while :; do sleep 1; done"
    const { word, command } = markedScript(`setsid sh -c "${stubborn}" & wait`)
    await using host = openTestHost(linuxPlatform())
    await using running = await host.start(command)
    await readFirstLine(running)
    await running.end()
    assert.deepEqual(await livingWith(word), [])
  })

  test('end() kills a stubborn process that left the session when the watcher cannot', async () => {
    const stubborn = "trap '' TERM HUP; echo ready; while :; do sleep 1; done"
    const { word, command } = markedScript(`setsid sh -c "${stubborn}" & wait`)
    await using host = openTestHost(linuxPlatform())
    await using running = await host.start(command)
    await readFirstLine(running)
    const watcher = (await livingWith(word)).find((living) => living.command.includes('crabtalk-watch'))!
    process.kill(watcher.pid, 'SIGSTOP') // as slow as on a busy machine
    await running.end()
    assert.deepEqual(await livingWith(word), [])
  })

  test('end() does not touch programs of others', async () => {
    await using host = openTestHost(linuxPlatform())
    await using other = await host.start(makeScript('setsid sleep 600 & echo ready; wait'))
    await using running = await host.start(makeScript('sleep 600'))
    await readFirstLine(other)
    await until('both of the other run', async () => (await other.members()).length === 2)
    await running.end()
    assert.equal((await other.members()).length, 2)
  })

  test('a watcher that cannot list processes ends its group', async () => {
    const { word, command } = markedScript('sleep 600 & echo ready; wait')
    const launch = { program: '/bin/sh', ownerTag: 'x.', onLetGo: () => {} }
    const listMembers = async () => []
    await using running = await startGuarded(
      { ...command, ...launch },
      { shell: '/bin/sh', list: 'false', membersOf: listMembers },
    )
    await readFirstLine(running)
    await running.end()
    assert.deepEqual(await running.exited, { code: null, signal: 'SIGTERM' })
    assert.deepEqual(await livingWith(word), [])
  })
})
