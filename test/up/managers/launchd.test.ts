import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { findLaunchdDomain, LaunchdManager } from '../../../src/up/managers/launchd.ts'
import { parsePlist } from '../../support/xml.ts'
import { type ManagerHost, makeManagerHost } from './manager-host.ts'

const never = new AbortController().signal
const LABEL = 'ai.crabtalk.daemon'

function createManager({ host }: ManagerHost, domain: 'gui' | 'user' = 'gui'): LaunchdManager {
  return new LaunchdManager(host, { domain, retryMs: 1 })
}

/** Returns the launchctl calls that change something. */
async function changes(fixture: ManagerHost): Promise<string[]> {
  const calls = (await fixture.calls()).map((line) =>
    line.replace('launchctl ', '').replaceAll(fixture.home, '~'),
  )
  return calls.filter((line) => !line.startsWith('print'))
}

async function readStatus({ host }: ManagerHost): Promise<unknown> {
  const [status] = await new LaunchdManager(host, { domain: 'gui' }).status([LABEL], never)
  return status
}

test('LaunchdManager.start() writes the job, enables and loads it, and is idempotent', async () => {
  await using fixture = await makeManagerHost()
  const manager = createManager(fixture)
  await manager.start(fixture.spec, never)
  const file = '~/Library/LaunchAgents/ai.crabtalk.daemon.plist'
  assert.deepEqual(await changes(fixture), [
    `enable gui/501/${LABEL}`,
    `bootout gui/501/${LABEL}`,
    `bootout user/501/${LABEL}`,
    `bootstrap gui/501 ${file}`,
    `kickstart gui/501/${LABEL}`,
  ])
  await manager.start(fixture.spec, never)
  assert.deepEqual(await changes(fixture), [`enable gui/501/${LABEL}`])
  assert.deepEqual(await readStatus(fixture), {
    label: LABEL,
    isInstalled: true,
    isEnabled: true,
    state: 'running',
    pid: 4711,
    restarts: 0,
  })
  assert.deepEqual(
    (parsePlist(await readFile(manager.unit(fixture.spec).path, 'utf8')) as { Label: string }).Label,
    LABEL,
  )
})

test('LaunchdManager loads the guard of a home with its first service, and removes it with the last', async () => {
  await using fixture = await makeManagerHost()
  const manager = new LaunchdManager(fixture.host, { domain: 'gui', retryMs: 1, program: ['/bin/crabtalk'] })
  const guard = 'ai.crabtalk-guard'
  await manager.start(fixture.spec, never)
  assert.deepEqual(
    (await changes(fixture)).filter((line) => line.includes('guard')),
    [
      `enable gui/501/${guard}`,
      `bootout gui/501/${guard}`,
      `bootout user/501/${guard}`,
      `bootstrap gui/501 ~/Library/LaunchAgents/${guard}.plist`,
      `kickstart gui/501/${guard}`,
    ],
  )
  const plist = parsePlist(await readFile(manager.guardUnit(fixture.spec)!.path, 'utf8')) as {
    ProgramArguments: string[]
  }
  const home = join(fixture.home, '.crabtalk')
  assert.deepEqual(plist.ProgramArguments, ['/bin/crabtalk', 'supervise', '--guard', '--home', home])

  const other = { ...fixture.spec, name: 'cron', label: 'ai.crabtalk.cron' }
  await manager.start(other, never)
  assert.deepEqual(
    (await changes(fixture)).filter((line) => line.includes('guard')),
    [],
    'it is already running',
  )
  assert.deepEqual(await manager.labels(never), ['ai.crabtalk.cron', LABEL])
  await manager.remove(LABEL, never)
  assert.ok(existsSync(manager.guardUnit(other)!.path))
  await manager.remove(other.label, never)
  assert.ok(!existsSync(manager.guardUnit(other)!.path))
  assert.ok((await changes(fixture)).includes(`bootout gui/501/${guard}`))
})

test('LaunchdManager.start() only kickstarts a job that is loaded and does not run', async () => {
  await using fixture = await makeManagerHost()
  const manager = createManager(fixture)
  await manager.start(fixture.spec, never)
  await fixture.set(`gui-501-${LABEL}`, '\tstate = not running\n\truns = 1\n\tlast exit code = 0\n')
  await fixture.calls()
  await manager.start(fixture.spec, never)
  assert.deepEqual(await changes(fixture), [`enable gui/501/${LABEL}`, `kickstart gui/501/${LABEL}`])
})

test('LaunchdManager.start() loads a missing job again that launchd reports as loaded', async () => {
  await using fixture = await makeManagerHost()
  await fixture.set('loose', '2')
  await createManager(fixture).start(fixture.spec, never)
  const calls = await changes(fixture)
  assert.equal(calls.filter((line) => line.startsWith('bootstrap')).length, 3)
  assert.equal((await createManager(fixture).status([LABEL], never))[0]!.state, 'running')
  await createManager(fixture).stop(fixture.spec, never)
  await fixture.set('loose', '3')
  await assert.rejects(createManager(fixture).start(fixture.spec, never), {
    kind: 'failed',
    message: /kickstart/,
  })
})

test('LaunchdManager.stop() checks whether the job exists, not how launchd refuses to stop a missing one', async () => {
  await using fixture = await makeManagerHost()
  for (const code of ['3', '5', '36', '113']) {
    await fixture.set('grip', code)
    await createManager(fixture).stop(fixture.spec, never)
    assert.deepEqual(await changes(fixture), [`bootout gui/501/${LABEL}`, `bootout user/501/${LABEL}`])
  }
})

for (const code of ['5', '37']) {
  test(`LaunchdManager retries while launchd answers ${code}`, async () => {
    await using fixture = await makeManagerHost()
    await fixture.set('busy', '20')
    await fixture.set('busy.code', code)
    await createManager(fixture).start(fixture.spec, never)
    const calls = await changes(fixture)
    assert.equal(calls.filter((line) => line.startsWith('bootstrap')).length, 21)
  })
}

test('LaunchdManager gives up on a launchd that stays busy, and reports its message', async () => {
  await using fixture = await makeManagerHost()
  await fixture.set('busy', '1000')
  await fixture.set('busy.code', '5')
  await assert.rejects(createManager(fixture).start(fixture.spec, never), {
    kind: 'failed',
    message: /launchd run bootstrap gui\/501 .*: Bootstrap failed: 5: Input\/output error$/,
  })
})

test('LaunchdManager.stop() resolves when the job is gone, and leaves its file for the next login', async () => {
  await using fixture = await makeManagerHost()
  const manager = createManager(fixture)
  await manager.start(fixture.spec, never)
  await fixture.set('lazy', '3')
  await manager.stop(fixture.spec, never)
  assert.equal(existsSync(join(fixture.state, `gui-501-${LABEL}`)), false)
  assert.deepEqual(await readStatus(fixture), {
    label: LABEL,
    isInstalled: true,
    isEnabled: true,
    state: 'stopped',
  })
  await manager.stop(fixture.spec, never)
})

test('LaunchdManager finds and stops a job that was loaded in the other session', async () => {
  await using fixture = await makeManagerHost()
  await createManager(fixture, 'user').start(fixture.spec, never)
  const desktop = createManager(fixture, 'gui')
  assert.equal((await desktop.status([LABEL], never))[0]!.pid, 4711)
  await desktop.restart(fixture.spec, never)
  assert.equal(existsSync(join(fixture.state, `user-501-${LABEL}`)), false)
  assert.ok(existsSync(join(fixture.state, `gui-501-${LABEL}`)))
})

test('LaunchdManager works over ssh without a login at the screen', async () => {
  await using fixture = await makeManagerHost()
  await fixture.set('domains', 'user\n')
  const manager = createManager(fixture, 'user')
  await manager.start(fixture.spec, never)
  await manager.restart(fixture.spec, never)
  assert.equal((await manager.status([LABEL], never))[0]!.state, 'running')
  await manager.stop(fixture.spec, never)
  assert.equal((await manager.status([LABEL], never))[0]!.state, 'stopped')
})

test('LaunchdManager.restart() runs the job with the new file', async () => {
  await using fixture = await makeManagerHost()
  const manager = createManager(fixture)
  await manager.start(fixture.spec, never)
  const changed = { ...fixture.spec, cwd: '/tmp' }
  await manager.restart(changed, never)
  const calls = await changes(fixture)
  assert.deepEqual(
    calls.slice(-4).map((line) => line.split(' ')[0]),
    ['bootout', 'bootout', 'bootstrap', 'kickstart'],
  )
  assert.deepEqual(await readFile(manager.unit(changed).path), manager.unit(changed).content)
})

test('LaunchdManager.disable() keeps a job running, also through a restart, and start() enables it again', async () => {
  await using fixture = await makeManagerHost()
  const manager = createManager(fixture)
  const enabledAndState = async () => {
    const [status] = await manager.status([LABEL], never)
    return [status!.isEnabled, status!.state]
  }
  await manager.start(fixture.spec, never)
  await manager.disable(fixture.spec, never)
  assert.deepEqual(await enabledAndState(), [false, 'running'])
  await manager.restart(fixture.spec, never)
  assert.deepEqual(await enabledAndState(), [false, 'running'])
  await manager.start(fixture.spec, never)
  assert.deepEqual(await enabledAndState(), [true, 'running'])
})

test('LaunchdManager.remove() leaves nothing of a job, and may be repeated', async () => {
  await using fixture = await makeManagerHost()
  const manager = createManager(fixture)
  await manager.start(fixture.spec, never)
  assert.deepEqual(await manager.labels(never), [LABEL])
  await manager.remove(LABEL, never)
  await manager.remove(LABEL, never)
  assert.deepEqual(await manager.labels(never), [])
  assert.deepEqual(await readStatus(fixture), {
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
    await using fixture = await makeManagerHost()
    await fixture.set(`gui-501-${LABEL}`, `${printed}\n`)
    assert.deepEqual(await readStatus(fixture), {
      label: LABEL,
      isInstalled: true,
      isEnabled: false,
      ...expected,
    })
  })
}

test('LaunchdManager reports missing permissions', async () => {
  await using fixture = await makeManagerHost()
  await fixture.set('deny', '150')
  await assert.rejects(createManager(fixture).start(fixture.spec, never), { kind: 'credentials' })
})

test('findLaunchdDomain() is the desktop, else the domain of ssh, else undefined', async () => {
  await using fixture = await makeManagerHost()
  assert.equal(await findLaunchdDomain(fixture.host, never), undefined)
  await fixture.set('domains', 'user\n')
  assert.equal(await findLaunchdDomain(fixture.host, never), 'user')
  await fixture.set('domains', 'user\ngui\n')
  assert.equal(await findLaunchdDomain(fixture.host, never), 'gui')
})
