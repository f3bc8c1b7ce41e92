import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtempDisposable, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { sweepStrays } from '../../../src/core/process/linux.ts'
import { newOwnerTag, OWNER_TAG } from '../../../src/core/process/owner-tag.ts'
import { livingWith } from '../../support/orphans.ts'
import { makeCommand, markedScript, openTestHost, readAllText } from '../../support/process-platforms.ts'
import { until } from '../../support/until.ts'

const never = new AbortController().signal
const STUBBORN = "trap '' TERM HUP; echo ready; while :; do sleep 1; done"

test('a host that starts a program ends what a dead host and its dead watcher left', async () => {
  const words = [
    await leaveStray(STUBBORN),
    await leaveStray('setsid sleep 600 & sleep 0.1; echo ready; wait'),
  ]
  await using host = openTestHost()
  await using running = await host.start(makeCommand(['echo', 'not delayed']))
  assert.equal(await readAllText(running.stdout), 'not delayed\n')
  for (const word of words) {
    await until('the stray has ended', async () => (await livingWith(word)).length === 0)
  }
})

// These see only the children of one test, in a namespace that no other process sweeps.
describe('sweepStrays()', { concurrency: true }, () => {
  test('ends leftovers of a dead owner, by TERM', async () => {
    await using world = await openWorld({ 100: 5 })
    const stray = await world.start('77.101.5.')
    await sweepStrays(world, never)
    assert.deepEqual(await stray.exited, [null, 'SIGTERM'])
  })

  test('kills what does not end within two seconds', async () => {
    await using world = await openWorld({})
    const stray = await world.start('77.101.5.', STUBBORN)
    await sweepStrays(world, never)
    assert.deepEqual(await stray.exited, [null, 'SIGKILL'])
  })

  test('treats an owner as dead if another process has its id now', async () => {
    await using world = await openWorld({ 100: 6 })
    const stray = await world.start('77.100.5.')
    await sweepStrays(world, never)
    assert.deepEqual(await stray.exited, [null, 'SIGTERM'])
  })

  test('treats an unreaped owner as dead', async () => {
    await using world = await openWorld({ 100: 5 }, 'Z')
    const stray = await world.start('77.100.5.')
    await sweepStrays(world, never)
    assert.deepEqual(await stray.exited, [null, 'SIGTERM'])
  })

  for (const [what, mark] of Object.entries({
    'of a living owner': '77.100.5.',
    'of another namespace': '78.101.5.',
    'of a system without start times': '0.101.0.',
    'with the tag of another program': '77.x.5.',
  })) {
    test(`leaves a program ${what}`, async () => {
      await using world = await openWorld({ 100: 5 })
      const [left, stray] = [await world.start(mark), await world.start('77.101.5.')]
      await sweepStrays(world, never)
      await stray.exited
      left.child.kill('SIGINT')
      assert.deepEqual(await left.exited, [null, 'SIGINT'])
    })
  }

  test('leaves itself, whatever started it', async () => {
    await using world = await openWorld({})
    const own = await world.start('77.101.5.')
    world.become(own.child)
    await sweepStrays(world, never)
    own.child.kill('SIGINT')
    assert.deepEqual(await own.exited, [null, 'SIGINT'])
  })

  test('stops when it is aborted', async () => {
    await using world = await openWorld({})
    const stray = await world.start(
      '77.101.5.',
      "trap 'echo told' TERM; echo ready; while :; do sleep 0.01; done",
    )
    const abort = new AbortController()
    const swept = sweepStrays(world, abort.signal)
    await once(stray.child.stdout!, 'data')
    abort.abort()
    await assert.rejects(swept, { name: 'AbortError' })
    stray.child.kill('SIGINT')
    assert.deepEqual(await stray.exited, [null, 'SIGINT'])
  })
})

/**
 * Creates a folder like /proc with the children started here, and owners by their start times in one state.
 * The sweeper is process 1 of namespace 77.
 */
async function openWorld(owners: Record<number, number>, state = 'S') {
  const folder = await mkdtempDisposable(join(tmpdir(), 'crab-proc-'))
  const children: ChildProcess[] = []
  const show = async (pid: number) => {
    await mkdir(join(folder.path, String(pid), 'ns'), { recursive: true })
    await symlink('pid:[77]', join(folder.path, String(pid), 'ns', 'pid'))
    for (const file of ['stat', 'environ'])
      await symlink(`/proc/${pid}/${file}`, join(folder.path, String(pid), file))
  }
  const world = {
    proc: folder.path,
    pid: 1,
    async start(prefix: string, script = 'echo ready; exec sleep 600') {
      const env = { PATH: '/usr/bin:/bin', [OWNER_TAG]: newOwnerTag(prefix) }
      const child = spawn('/bin/sh', ['-c', script], { env, stdio: ['ignore', 'pipe', 'inherit'] })
      children.push(child)
      const exited = once(child, 'exit')
      await once(child.stdout, 'data')
      await show(child.pid!)
      return { child, exited }
    },
    /** Makes the sweeper one of its children. */
    become(child: ChildProcess) {
      world.pid = child.pid!
    },
    async [Symbol.asyncDispose]() {
      for (const child of children) child.kill('SIGKILL')
      await folder.remove()
    },
  }
  await show(world.pid)
  for (const [pid, start] of Object.entries(owners)) {
    await mkdir(join(folder.path, pid))
    const stat = `${pid} (owner) ${state} 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 ${start} 0 0 0\n`
    await writeFile(join(folder.path, pid, 'stat'), stat)
  }
  return world
}

/**
 * Starts a program, then kills its host, and its watcher before it can react; returns the argument that
 * identifies the stray.
 */
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
