import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { SchtasksManager, type TaskLoop } from '../../../src/up/managers/schtasks.ts'
import { editedUnitPath, unitChange } from '../../../src/up/units/unit-change.ts'
import { type ManagerHost, makeManagerHost } from './manager-host.ts'

const never = new AbortController().signal
const LABEL = 'ai.crabtalk.daemon'

/**
 * Returns a loop that runs while its task does, as the program of a task would; it knows nothing about
 * logins.
 */
function fakeLoop(fixture: ManagerHost, loopCalls: string[] = []): TaskLoop {
  const runs = () => existsSync(join(fixture.state, `${LABEL}.running`))
  const known = { label: LABEL, isInstalled: true, isEnabled: false }
  return {
    command: ({ name }) => ['C:\\crab talk\\crabtalk.exe', 'supervise', name],
    writeSpec: async ({ name }) => void loopCalls.push(`want ${name}`),
    end: async (label) => void loopCalls.push(`end ${label}`),
    forget: async (label) => void loopCalls.push(`forget ${label}`),
    isRunning: async () => runs(),
    hasResponded: async () => runs(),
    async status() {
      if (runs()) return { ...known, state: 'running', pid: 17, restarts: 1 }
      return loopCalls.at(-1)?.startsWith('want')
        ? { ...known, state: 'failed', lastExit: { code: 78, signal: null } }
        : undefined
    },
  }
}

function createManager(fixture: ManagerHost, loopCalls?: string[]): SchtasksManager {
  return new SchtasksManager(fixture.host, {
    folder: join(fixture.home, 'run/services'),
    loop: fakeLoop(fixture, loopCalls),
    lookMs: 1,
  })
}

/** Returns the schtasks calls that change something. */
async function changes(fixture: ManagerHost): Promise<string[]> {
  const calls = (await fixture.calls()).map((line) =>
    line.replace('schtasks ', '').replaceAll(fixture.home, '~'),
  )
  return calls.filter((line) => !line.startsWith('/Query'))
}

test('SchtasksManager.start() creates the task and runs it, and is idempotent', async () => {
  await using fixture = await makeManagerHost()
  const loopCalls: string[] = []
  const manager = createManager(fixture, loopCalls)
  assert.deepEqual(await manager.status([LABEL], never), [
    { label: LABEL, isInstalled: false, isEnabled: false, state: 'stopped' },
  ])
  await manager.start(fixture.spec, never)
  assert.deepEqual(await changes(fixture), [
    `/Create /TN ${LABEL} /XML ~/run/services/${LABEL}.xml.new /F`,
    `/Run /TN ${LABEL}`,
  ])
  await manager.start(fixture.spec, never)
  assert.deepEqual(await changes(fixture), [])
  assert.deepEqual(loopCalls, ['want daemon', 'want daemon'])
  assert.deepEqual(await manager.status([LABEL], never), [
    { label: LABEL, isInstalled: true, isEnabled: true, state: 'running', pid: 17, restarts: 1 },
  ])
  assert.deepEqual(await readdir(join(fixture.home, 'run/services')), [`${LABEL}.xml`])
  assert.equal((await unitChange(manager.unit(fixture.spec))).kind, 'same')
})

test('SchtasksManager.status() says how a service ended whose loop has given up, and start() runs it again', async () => {
  await using fixture = await makeManagerHost()
  const manager = createManager(fixture)
  await manager.start(fixture.spec, never)
  await fixture.host.run(['schtasks', '/End', '/TN', LABEL], {}, never)
  const [status] = await manager.status([LABEL], never)
  assert.deepEqual([status!.state, status!.lastExit?.code, status!.isEnabled], ['failed', 78, true])
  await manager.start(fixture.spec, never)
  assert.equal((await manager.status([LABEL], never))[0]!.state, 'running')
})

test('SchtasksManager runs a task again that Windows wrongly reports as running, a limited number of times', async () => {
  await using fixture = await makeManagerHost()
  const manager = createManager(fixture)
  const runs = async () => (await changes(fixture)).filter((line) => line.startsWith('/Run')).length
  await fixture.set('deaf', '1')
  await manager.start(fixture.spec, never)
  assert.equal(await runs(), 2)
  await fixture.set('deaf', '1')
  await manager.restart(fixture.spec, never)
  assert.equal(await runs(), 2)
  assert.equal((await manager.status([LABEL], never))[0]!.state, 'running')
  await fixture.set('deaf', '100')
  await manager.restart(fixture.spec, never)
  assert.equal(await runs(), 3)
})

test('SchtasksManager.start() creates a task again that the user has deleted', async () => {
  await using fixture = await makeManagerHost()
  const manager = createManager(fixture)
  await manager.start(fixture.spec, never)
  await fixture.host.run(['schtasks', '/Delete', '/TN', LABEL, '/F'], {}, never)
  await manager.start(fixture.spec, never)
  assert.equal((await manager.status([LABEL], never))[0]!.state, 'running')
})

test('SchtasksManager writes no file for a task that Windows refuses, in any language', async () => {
  await using fixture = await makeManagerHost()
  await fixture.set('deny')
  const manager = createManager(fixture)
  await assert.rejects(manager.start(fixture.spec, never), {
    kind: 'failed',
    message: /FEHLER: Zugriff verweigert\.$/,
  })
  assert.equal((await unitChange(manager.unit(fixture.spec))).kind, 'new')
})

test('SchtasksManager.stop() lets the loop end its service before the task is ended, and may be repeated', async () => {
  await using fixture = await makeManagerHost()
  const loopCalls: string[] = []
  const manager = createManager(fixture, loopCalls)
  await manager.start(fixture.spec, never)
  await manager.stop(fixture.spec, never)
  await manager.stop(fixture.spec, never)
  assert.deepEqual(loopCalls, ['want daemon', `end ${LABEL}`, `end ${LABEL}`])
  const [status] = await manager.status([LABEL], never)
  assert.deepEqual([status!.state, status!.isEnabled], ['stopped', true])
})

test('SchtasksManager.disable() keeps a task running, also through a restart, and start() enables it again', async () => {
  await using fixture = await makeManagerHost()
  const manager = createManager(fixture)
  const enabledAndState = async () => {
    const [status] = await manager.status([LABEL], never)
    return [status!.isEnabled, status!.state]
  }
  await manager.start(fixture.spec, never)
  await manager.disable(fixture.spec, never)
  await manager.disable(fixture.spec, never)
  assert.deepEqual(await enabledAndState(), [false, 'running'])
  await manager.restart(fixture.spec, never)
  assert.deepEqual(await enabledAndState(), [false, 'running'])
  await manager.start(fixture.spec, never)
  assert.deepEqual(await enabledAndState(), [true, 'running'])
})

test('SchtasksManager.restart() keeps the old one running if the new spec is invalid for a task', async () => {
  await using fixture = await makeManagerHost()
  const loopCalls: string[] = []
  const manager = createManager(fixture, loopCalls)
  await manager.start(fixture.spec, never)
  await assert.rejects(manager.restart({ ...fixture.spec, cwd: 'C:\\a\nb' }, never), { kind: 'invalid' })
  assert.deepEqual(loopCalls, ['want daemon'])
})

test('SchtasksManager.remove() leaves nothing of a task, and may be repeated', async () => {
  await using fixture = await makeManagerHost()
  const loopCalls: string[] = []
  const manager = createManager(fixture, loopCalls)
  await manager.start(fixture.spec, never)
  await fixture.host.run(
    ['cp', manager.unit(fixture.spec).path, editedUnitPath(manager.unit(fixture.spec).path)],
    {},
    never,
  )
  assert.deepEqual(await manager.labels(never), [LABEL])
  await manager.remove(LABEL, never)
  await manager.remove(LABEL, never)
  assert.deepEqual(await readdir(join(fixture.home, 'run/services')), [])
  assert.equal((await manager.status([LABEL], never))[0]!.isInstalled, false)
  assert.equal(loopCalls.at(-1), `forget ${LABEL}`)
})

test('SchtasksManager cannot create a task without a user name', async () => {
  await using fixture = await makeManagerHost({ USERNAME: '' })
  await assert.rejects(createManager(fixture).start(fixture.spec, never), { kind: 'unavailable' })
})
