import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { SchtasksManager, type TaskLoop } from '../../../src/up/managers/schtasks.ts'
import { editedUnitPath, unitChange } from '../../../src/up/units/unit-change.ts'
import { makeStage, type Stage } from './stage.ts'

const never = new AbortController().signal
const LABEL = 'ai.crabtalk.daemon'

/** A loop that runs while its task does, as the program behind a task would; of logins it knows nothing. */
function loopOf(stage: Stage, heard: string[] = []): TaskLoop {
  const runs = () => existsSync(join(stage.state, `${LABEL}.running`))
  const known = { label: LABEL, isInstalled: true, isEnabled: false }
  return {
    command: ({ name }) => ['C:\\crab talk\\crabtalk.exe', 'supervise', name],
    writeSpec: async ({ name }) => void heard.push(`want ${name}`),
    end: async (label) => void heard.push(`end ${label}`),
    forget: async (label) => void heard.push(`forget ${label}`),
    isRunning: async () => runs(),
    hasResponded: async () => runs(),
    async status() {
      if (runs()) return { ...known, state: 'running', pid: 17, restarts: 1 }
      return heard.at(-1)?.startsWith('want')
        ? { ...known, state: 'failed', lastExit: { code: 78, signal: null } }
        : undefined
    },
  }
}

function managerOf(stage: Stage, heard?: string[]): SchtasksManager {
  return new SchtasksManager(stage.host, {
    folder: join(stage.home, 'run/services'),
    loop: loopOf(stage, heard),
    lookMs: 1,
  })
}

/** What schtasks was asked to change. */
async function changes(stage: Stage): Promise<string[]> {
  const calls = (await stage.calls()).map((line) => line.replace('schtasks ', '').replaceAll(stage.home, '~'))
  return calls.filter((line) => !line.startsWith('/Query'))
}

test('SchtasksManager.start() makes the task and runs it, and does so once', async () => {
  await using stage = await makeStage()
  const heard: string[] = []
  const manager = managerOf(stage, heard)
  assert.deepEqual(await manager.status([LABEL], never), [
    { label: LABEL, isInstalled: false, isEnabled: false, state: 'stopped' },
  ])
  await manager.start(stage.spec, never)
  assert.deepEqual(await changes(stage), [
    `/Create /TN ${LABEL} /XML ~/run/services/${LABEL}.xml.new /F`,
    `/Run /TN ${LABEL}`,
  ])
  await manager.start(stage.spec, never)
  assert.deepEqual(await changes(stage), [])
  assert.deepEqual(heard, ['want daemon', 'want daemon'])
  assert.deepEqual(await manager.status([LABEL], never), [
    { label: LABEL, isInstalled: true, isEnabled: true, state: 'running', pid: 17, restarts: 1 },
  ])
  assert.deepEqual(await readdir(join(stage.home, 'run/services')), [`${LABEL}.xml`])
  assert.equal((await unitChange(manager.unit(stage.spec))).kind, 'same')
})

test('SchtasksManager.status() says how a service ended whose loop has given up, and start() runs it again', async () => {
  await using stage = await makeStage()
  const manager = managerOf(stage)
  await manager.start(stage.spec, never)
  await stage.host.run(['schtasks', '/End', '/TN', LABEL], {}, never)
  const [status] = await manager.status([LABEL], never)
  assert.deepEqual([status!.state, status!.lastExit?.code, status!.isEnabled], ['failed', 78, true])
  await manager.start(stage.spec, never)
  assert.equal((await manager.status([LABEL], never))[0]!.state, 'running')
})

test('SchtasksManager runs a task again that Windows takes for one that still goes on, and leaves it at some tries', async () => {
  await using stage = await makeStage()
  const manager = managerOf(stage)
  const runs = async () => (await changes(stage)).filter((line) => line.startsWith('/Run')).length
  await stage.set('deaf', '1')
  await manager.start(stage.spec, never)
  assert.equal(await runs(), 2)
  await stage.set('deaf', '1')
  await manager.restart(stage.spec, never)
  assert.equal(await runs(), 2)
  assert.equal((await manager.status([LABEL], never))[0]!.state, 'running')
  await stage.set('deaf', '100')
  await manager.restart(stage.spec, never)
  assert.equal(await runs(), 3)
})

test('SchtasksManager.start() makes a task again that somebody has deleted', async () => {
  await using stage = await makeStage()
  const manager = managerOf(stage)
  await manager.start(stage.spec, never)
  await stage.host.run(['schtasks', '/Delete', '/TN', LABEL, '/F'], {}, never)
  await manager.start(stage.spec, never)
  assert.equal((await manager.status([LABEL], never))[0]!.state, 'running')
})

test('SchtasksManager writes no file of a task that Windows refuses, in whatever language', async () => {
  await using stage = await makeStage()
  await stage.set('deny')
  const manager = managerOf(stage)
  await assert.rejects(manager.start(stage.spec, never), {
    kind: 'failed',
    message: /FEHLER: Zugriff verweigert\.$/,
  })
  assert.equal((await unitChange(manager.unit(stage.spec))).kind, 'new')
})

test('SchtasksManager.stop() has the loop end its service before the task is ended, and may be repeated', async () => {
  await using stage = await makeStage()
  const heard: string[] = []
  const manager = managerOf(stage, heard)
  await manager.start(stage.spec, never)
  await manager.stop(stage.spec, never)
  await manager.stop(stage.spec, never)
  assert.deepEqual(heard, ['want daemon', `end ${LABEL}`, `end ${LABEL}`])
  const [status] = await manager.status([LABEL], never)
  assert.deepEqual([status!.state, status!.isEnabled], ['stopped', true])
})

test('SchtasksManager.disable() lets a task run on, also through a restart, and start() takes it back', async () => {
  await using stage = await makeStage()
  const manager = managerOf(stage)
  const enabledAndState = async () => {
    const [status] = await manager.status([LABEL], never)
    return [status!.isEnabled, status!.state]
  }
  await manager.start(stage.spec, never)
  await manager.disable(stage.spec, never)
  await manager.disable(stage.spec, never)
  assert.deepEqual(await enabledAndState(), [false, 'running'])
  await manager.restart(stage.spec, never)
  assert.deepEqual(await enabledAndState(), [false, 'running'])
  await manager.start(stage.spec, never)
  assert.deepEqual(await enabledAndState(), [true, 'running'])
})

test('SchtasksManager.restart() leaves the old one running for a spec that no task can have', async () => {
  await using stage = await makeStage()
  const heard: string[] = []
  const manager = managerOf(stage, heard)
  await manager.start(stage.spec, never)
  await assert.rejects(manager.restart({ ...stage.spec, cwd: 'C:\\a\nb' }, never), { kind: 'invalid' })
  assert.deepEqual(heard, ['want daemon'])
})

test('SchtasksManager.remove() leaves nothing of a task, and may be repeated', async () => {
  await using stage = await makeStage()
  const heard: string[] = []
  const manager = managerOf(stage, heard)
  await manager.start(stage.spec, never)
  await stage.host.run(
    ['cp', manager.unit(stage.spec).path, editedUnitPath(manager.unit(stage.spec).path)],
    {},
    never,
  )
  assert.deepEqual(await manager.labels(never), [LABEL])
  await manager.remove(LABEL, never)
  await manager.remove(LABEL, never)
  assert.deepEqual(await readdir(join(stage.home, 'run/services')), [])
  assert.equal((await manager.status([LABEL], never))[0]!.isInstalled, false)
  assert.equal(heard.at(-1), `forget ${LABEL}`)
})

test('SchtasksManager cannot write a task for nobody', async () => {
  await using stage = await makeStage({ USERNAME: '' })
  await assert.rejects(managerOf(stage).start(stage.spec, never), { kind: 'unavailable' })
})
