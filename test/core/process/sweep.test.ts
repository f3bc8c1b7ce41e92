import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { linuxPlatform } from '../../../src/core/process/linux.ts'
import { MARK, newMark, ownerOf, toMarkPrefix } from '../../../src/core/process/mark.ts'
import { readEntry } from '../../../src/core/process/proc-files.ts'
import { sweepStrays } from '../../../src/core/process/sweep.ts'
import { livingWith } from '../../support/orphans.ts'
import { commandOf, markedScript, openTestHost, textOf } from '../../support/process-platforms.ts'
import { until } from '../../support/until.ts'

const from = { proc: '/proc', pid: process.pid }
const never = new AbortController().signal

describe('sweepStrays()', { concurrency: 4 }, () => {
  test('a host that starts a program ends what a dead host and its dead watcher left', async () => {
    const word = await leaveStray("trap '' TERM HUP; echo ready; while :; do sleep 1; done")
    await using host = openTestHost()
    await using running = await host.start(commandOf(['echo', 'not delayed']))
    assert.equal(await textOf(running.stdout), 'not delayed\n')
    assert.notDeepEqual(await livingWith(word), [])
    await until('the stray has ended', async () => (await livingWith(word)).length === 0)
  })

  test('sweepStrays() ends what a dead host left, whatever the session', async () => {
    const word = await leaveStray('setsid sleep 600 & sleep 0.1; echo ready; wait')
    await sweepStrays(from, never)
    await until('the strays have ended', async () => (await livingWith(word)).length === 0)
  })

  test('sweepStrays() leaves the programs of a living owner', async () => {
    await using host = openTestHost()
    await using running = await host.start(commandOf(['sleep', '600']))
    await sweepStrays(from, never)
    assert.deepEqual(await running.members(), [running.pid])
  })

  test('sweepStrays() leaves what it cannot tell, or is not of its own namespace', async () => {
    const mine = ownerOf(await linuxPlatform().identify(process.pid))!
    const other = { ...mine, namespace: String(Number(mine.namespace) + 1), startTime: 1 }
    const marks = [newMark(toMarkPrefix(other)), newMark('0.1.0.'), 'nonsense', '']
    const children = marks.map((mark) =>
      spawn('sleep', ['600'], { env: { PATH: '/usr/bin:/bin', [MARK]: mark } }),
    )
    await sweepStrays(from, never)
    for (const child of children) {
      assert.ok((await readEntry('/proc', child.pid!))?.isRunning, child.spawnargs.join(' '))
      child.kill('SIGKILL')
    }
  })

  test('sweepStrays() takes an owner for dead whose id another process has now', async () => {
    const mine = ownerOf(await linuxPlatform().identify(process.pid))!
    const mark = newMark(toMarkPrefix({ ...mine, startTime: mine.startTime - 1 }))
    const child = spawn('sleep', ['600'], { env: { PATH: '/usr/bin:/bin', [MARK]: mark } })
    const exited = once(child, 'exit')
    await sweepStrays(from, never)
    assert.deepEqual(await exited, [null, 'SIGTERM'])
  })

  test('sweepStrays() stops when it is aborted', async () => {
    const word = await leaveStray("trap '' TERM HUP; echo ready; while :; do sleep 1; done")
    const abort = new AbortController()
    const swept = sweepStrays(from, abort.signal)
    setImmediate(() => abort.abort())
    await swept.catch((reason) => assert.equal(reason.name, 'AbortError'))
    assert.notDeepEqual(await livingWith(word), [])
    await sweepStrays(from, never)
  })
})

/** Starts a program, then kills its host, and its watcher before it can see that; gives the word that tells the stray. */
async function leaveStray(script: string): Promise<string> {
  const { word, command } = markedScript(script)
  const program = join(import.meta.dirname, 'host-program.ts')
  const host = spawn(process.execPath, [program, JSON.stringify([command])], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const exited = once(host, 'exit')
  await once(host.stdout, 'data')
  host.kill('SIGSTOP') // it would end a group whose watcher dies
  const watcher = (await livingWith(word)).find((living) => living.command.includes('crabtalk-watch'))!
  process.kill(watcher.pid, 'SIGKILL')
  host.kill('SIGKILL')
  await exited
  return word
}
