import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { findLaunchdDomain, LaunchdManager } from '../../../src/up/managers/launchd.ts'
import { parsePlist } from '../../support/xml.ts'
import { makeStage, type Stage } from './stage.ts'

const never = new AbortController().signal
const LABEL = 'ai.crabtalk.daemon'

function managerOf({ host }: Stage, domain: 'gui' | 'user' = 'gui'): LaunchdManager {
  return new LaunchdManager(host, { domain, retryMs: 1 })
}

/** What launchctl was asked to change. */
async function changes(stage: Stage): Promise<string[]> {
  const calls = (await stage.calls()).map((line) =>
    line.replace('launchctl ', '').replaceAll(stage.home, '~'),
  )
  return calls.filter((line) => !line.startsWith('print'))
}

async function statusOf({ host }: Stage): Promise<unknown> {
  const [status] = await new LaunchdManager(host, { domain: 'gui' }).status([LABEL], never)
  return status
}

test('LaunchdManager.start() writes the job, enables and loads it, and does so once', async () => {
  await using stage = await makeStage()
  const manager = managerOf(stage)
  await manager.start(stage.spec, never)
  const file = '~/Library/LaunchAgents/ai.crabtalk.daemon.plist'
  assert.deepEqual(await changes(stage), [
    `enable gui/501/${LABEL}`,
    `bootout gui/501/${LABEL}`,
    `bootout user/501/${LABEL}`,
    `bootstrap gui/501 ${file}`,
    `kickstart gui/501/${LABEL}`,
  ])
  await manager.start(stage.spec, never)
  assert.deepEqual(await changes(stage), [`enable gui/501/${LABEL}`])
  assert.deepEqual(await statusOf(stage), {
    label: LABEL,
    isInstalled: true,
    isEnabled: true,
    state: 'running',
    pid: 4711,
    restarts: 0,
  })
  assert.deepEqual(
    (parsePlist(await readFile(manager.unit(stage.spec).path, 'utf8')) as { Label: string }).Label,
    LABEL,
  )
})

test('LaunchdManager loads the guard of a home with its first service, and removes it with the last', async () => {
  await using stage = await makeStage()
  const manager = new LaunchdManager(stage.host, { domain: 'gui', retryMs: 1, program: ['/bin/crabtalk'] })
  const guard = 'ai.crabtalk-guard'
  await manager.start(stage.spec, never)
  assert.deepEqual(
    (await changes(stage)).filter((line) => line.includes('guard')),
    [
      `enable gui/501/${guard}`,
      `bootout gui/501/${guard}`,
      `bootout user/501/${guard}`,
      `bootstrap gui/501 ~/Library/LaunchAgents/${guard}.plist`,
      `kickstart gui/501/${guard}`,
    ],
  )
  const plist = parsePlist(await readFile(manager.guardUnit(stage.spec)!.path, 'utf8')) as {
    ProgramArguments: string[]
  }
  const home = join(stage.home, '.crabtalk')
  assert.deepEqual(plist.ProgramArguments, ['/bin/crabtalk', 'supervise', '--guard', '--home', home])

  const other = { ...stage.spec, name: 'cron', label: 'ai.crabtalk.cron' }
  await manager.start(other, never)
  assert.deepEqual(
    (await changes(stage)).filter((line) => line.includes('guard')),
    [],
    'it is already running',
  )
  assert.deepEqual(await manager.labels(never), ['ai.crabtalk.cron', LABEL])
  await manager.remove(LABEL, never)
  assert.ok(existsSync(manager.guardUnit(other)!.path))
  await manager.remove(other.label, never)
  assert.ok(!existsSync(manager.guardUnit(other)!.path))
  assert.ok((await changes(stage)).includes(`bootout gui/501/${guard}`))
})

test('LaunchdManager.start() only kicks a job that is loaded and does not run', async () => {
  await using stage = await makeStage()
  const manager = managerOf(stage)
  await manager.start(stage.spec, never)
  await stage.set(`gui-501-${LABEL}`, '\tstate = not running\n\truns = 1\n\tlast exit code = 0\n')
  await stage.calls()
  await manager.start(stage.spec, never)
  assert.deepEqual(await changes(stage), [`enable gui/501/${LABEL}`, `kickstart gui/501/${LABEL}`])
})

test('LaunchdManager.start() loads a job again that launchd says is loaded, and which is not there', async () => {
  await using stage = await makeStage()
  await stage.set('loose', '2')
  await managerOf(stage).start(stage.spec, never)
  const calls = await changes(stage)
  assert.equal(calls.filter((line) => line.startsWith('bootstrap')).length, 3)
  assert.equal((await managerOf(stage).status([LABEL], never))[0]!.state, 'running')
  await managerOf(stage).stop(stage.spec, never)
  await stage.set('loose', '3')
  await assert.rejects(managerOf(stage).start(stage.spec, never), { kind: 'failed', message: /kickstart/ })
})

test('LaunchdManager.stop() goes by whether a job is there, not by how launchd refuses to end what is not', async () => {
  await using stage = await makeStage()
  for (const code of ['3', '5', '36', '113']) {
    await stage.set('grip', code)
    await managerOf(stage).stop(stage.spec, never)
    assert.deepEqual(await changes(stage), [`bootout gui/501/${LABEL}`, `bootout user/501/${LABEL}`])
  }
})

for (const code of ['5', '37']) {
  test(`LaunchdManager tries again while launchd answers ${code}`, async () => {
    await using stage = await makeStage()
    await stage.set('busy', '20')
    await stage.set('busy.code', code)
    await managerOf(stage).start(stage.spec, never)
    const calls = await changes(stage)
    assert.equal(calls.filter((line) => line.startsWith('bootstrap')).length, 21)
  })
}

test('LaunchdManager gives up on a launchd that stays busy, and says what it said', async () => {
  await using stage = await makeStage()
  await stage.set('busy', '1000')
  await stage.set('busy.code', '5')
  await assert.rejects(managerOf(stage).start(stage.spec, never), {
    kind: 'failed',
    message: /launchd run bootstrap gui\/501 .*: Bootstrap failed: 5: Input\/output error$/,
  })
})

test('LaunchdManager.stop() resolves when the job is gone, and leaves its file for the next login', async () => {
  await using stage = await makeStage()
  const manager = managerOf(stage)
  await manager.start(stage.spec, never)
  await stage.set('lazy', '3')
  await manager.stop(stage.spec, never)
  assert.equal(existsSync(join(stage.state, `gui-501-${LABEL}`)), false)
  assert.deepEqual(await statusOf(stage), {
    label: LABEL,
    isInstalled: true,
    isEnabled: true,
    state: 'stopped',
  })
  await manager.stop(stage.spec, never)
})

test('LaunchdManager finds and ends a job that was loaded in the other session', async () => {
  await using stage = await makeStage()
  await managerOf(stage, 'user').start(stage.spec, never)
  const desktop = managerOf(stage, 'gui')
  assert.equal((await desktop.status([LABEL], never))[0]!.pid, 4711)
  await desktop.restart(stage.spec, never)
  assert.equal(existsSync(join(stage.state, `user-501-${LABEL}`)), false)
  assert.ok(existsSync(join(stage.state, `gui-501-${LABEL}`)))
})

test('LaunchdManager works over ssh while nobody sits at the screen', async () => {
  await using stage = await makeStage()
  await stage.set('domains', 'user\n')
  const manager = managerOf(stage, 'user')
  await manager.start(stage.spec, never)
  await manager.restart(stage.spec, never)
  assert.equal((await manager.status([LABEL], never))[0]!.state, 'running')
  await manager.stop(stage.spec, never)
  assert.equal((await manager.status([LABEL], never))[0]!.state, 'stopped')
})

test('LaunchdManager.restart() runs the job with the file as it is to be now', async () => {
  await using stage = await makeStage()
  const manager = managerOf(stage)
  await manager.start(stage.spec, never)
  const changed = { ...stage.spec, cwd: '/tmp' }
  await manager.restart(changed, never)
  const calls = await changes(stage)
  assert.deepEqual(
    calls.slice(-4).map((line) => line.split(' ')[0]),
    ['bootout', 'bootout', 'bootstrap', 'kickstart'],
  )
  assert.deepEqual(await readFile(manager.unit(changed).path), manager.unit(changed).content)
})

test('LaunchdManager.disable() lets a job run on, also through a restart, and start() takes it back', async () => {
  await using stage = await makeStage()
  const manager = managerOf(stage)
  const enabledAndState = async () => {
    const [status] = await manager.status([LABEL], never)
    return [status!.isEnabled, status!.state]
  }
  await manager.start(stage.spec, never)
  await manager.disable(stage.spec, never)
  assert.deepEqual(await enabledAndState(), [false, 'running'])
  await manager.restart(stage.spec, never)
  assert.deepEqual(await enabledAndState(), [false, 'running'])
  await manager.start(stage.spec, never)
  assert.deepEqual(await enabledAndState(), [true, 'running'])
})

test('LaunchdManager.remove() leaves nothing of a job, and may be repeated', async () => {
  await using stage = await makeStage()
  const manager = managerOf(stage)
  await manager.start(stage.spec, never)
  assert.deepEqual(await manager.labels(never), [LABEL])
  await manager.remove(LABEL, never)
  await manager.remove(LABEL, never)
  assert.deepEqual(await manager.labels(never), [])
  assert.deepEqual(await statusOf(stage), {
    label: LABEL,
    isInstalled: false,
    isEnabled: false,
    state: 'stopped',
  })
})

const STATES: readonly (readonly [string, object])[] = [
  [
    '\tstate = running\n\tpid = 7\n\truns = 3\n\tlast exit code = 1',
    { state: 'running', pid: 7, restarts: 2, lastExit: { code: 1, signal: null } },
  ],
  [
    '\tstate = spawn scheduled\n\truns = 4\n\tlast exit code = 78: EX_CONFIG',
    { state: 'waiting', restarts: 3, lastExit: { code: 78, signal: null } },
  ],
  [
    '\tstate = spawn scheduled\n\truns = 2\n\tlast terminating signal = Killed: 9',
    { state: 'waiting', restarts: 1, lastExit: { code: null, signal: 'SIGKILL' } },
  ],
  [
    '\tstate = not running\n\truns = 1\n\tlast exit code = 0',
    { state: 'stopped', restarts: 0, lastExit: { code: 0, signal: null } },
  ],
  ['\tstate = not running\n\truns = 0\n\tlast exit code = (never exited)', { state: 'stopped' }],
  ['\tstate = xpcproxy\n\truns = 1\n\tlast exit code = (never exited)', { state: 'starting', restarts: 0 }],
]
for (const [printed, expected] of STATES) {
  test(`LaunchdManager.status() reads ${printed.split('\n')[0]!.trim()} as ${Object.values(expected)[0]}`, async () => {
    await using stage = await makeStage()
    await stage.set(`gui-501-${LABEL}`, `${printed}\n`)
    assert.deepEqual(await statusOf(stage), {
      label: LABEL,
      isInstalled: true,
      isEnabled: false,
      ...expected,
    })
  })
}

test('LaunchdManager says who may not', async () => {
  await using stage = await makeStage()
  await stage.set('deny', '150')
  await assert.rejects(managerOf(stage).start(stage.spec, never), { kind: 'credentials' })
})

test('findLaunchdDomain() is the desktop, else what ssh has, else nothing', async () => {
  await using stage = await makeStage()
  assert.equal(await findLaunchdDomain(stage.host, never), undefined)
  await stage.set('domains', 'user\n')
  assert.equal(await findLaunchdDomain(stage.host, never), 'user')
  await stage.set('domains', 'user\ngui\n')
  assert.equal(await findLaunchdDomain(stage.host, never), 'gui')
})
