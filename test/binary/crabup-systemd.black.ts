import assert from 'node:assert/strict'
import { closeSync, existsSync, openSync, readdirSync, statSync, writeSync } from 'node:fs'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { sendSignal } from '../../src/core/process/signals.ts'
import { type Finished, makeSandbox, type Sandbox } from '../support/run-binary.ts'
import { canRunSystemd, type SystemdUser, startSystemdUser } from '../support/systemd-user.ts'
import { until } from '../support/until.ts'

// These tests run crabup under a systemd that really runs the services, where one can be started.

/** A fake loginctl, because whether a user of this machine lingers does not matter to the tests. */
const LOGIN = join(import.meta.dirname, '../up/managers/fakes-of-login')

interface SystemdFixture {
  sandbox: Sandbox
  user: SystemdUser
  up(line: string): Promise<Finished>
  env: Readonly<Record<string, string | undefined>>
  /** Returns the output of `crabup daemon status --json`. */
  status(): Promise<{ state: string; pid: number; manager: string; restarts: number; unit: string }>
}

function makeSystemdFixture(sandbox: Sandbox, user: SystemdUser): SystemdFixture {
  const { XDG_RUNTIME_DIR, XDG_CONFIG_HOME } = user.env
  const env = {
    XDG_RUNTIME_DIR,
    XDG_CONFIG_HOME,
    CRABTALK_SERVICE_MANAGER: 'systemd',
    FAKE_STATE: user.folder,
    PATH: `${LOGIN}:${sandbox.env['PATH']}`,
    CRABTALK_NO_DAEMON: undefined,
  }
  const up = (line: string) => sandbox.run(line.split(' '), { env, program: 'crabup' })
  return {
    sandbox,
    user,
    up,
    env,
    status: async () => JSON.parse((await up('daemon status --json')).stdout),
  }
}

if (canRunSystemd()) {
  test('crabup starts the daemon under systemd, which restarts it after a kill; logs follow it; nothing is left', async () => {
    await using sandbox = await makeSandbox()
    await using user = await startSystemdUser()
    const stage = makeSystemdFixture(sandbox, user)
    const { up, status } = stage

    const started = await up('daemon start')
    assert.equal(started.code, 0, started.stderr)
    assert.match(
      started.stdout,
      /^daemon is ready \(pid \d+, .*\), kept running by systemd, which starts it at login/,
    )
    const first = await status()
    assert.deepEqual([first.state, first.manager, first.restarts], ['ready', 'systemd', 0])

    await restartSoon(first.unit)
    assert.equal((await up('daemon restart')).code, 0)
    const second = await status()
    assert.notEqual(second.pid, first.pid)
    const logs = sandbox.start(['daemon', 'logs', '-f'], { env: stage.env, program: 'crabup' })
    await logs.prints(new RegExp(`"pid":${second.pid},"message":"listening on unix:`))
    sendSignal(second.pid, 'SIGKILL')
    await until('systemd has started it again', async () => {
      const { state, restarts } = await status()
      return state === 'ready' && restarts === 1
    })
    const third = await status()
    await logs.prints(new RegExp(`"pid":${third.pid},"message":"listening on unix:`))
    logs.child.kill('SIGINT')
    assert.equal((await logs.finished).code, 130)

    assert.equal((await up('daemon stop')).code, 0)
    assert.equal((await up('daemon status')).code, 3)
    assert.equal((await up('uninstall --yes')).code, 0)
    assert.ok(!existsSync(first.unit))
    assert.deepEqual(unitsLeft(user), [])
    assert.deepEqual(await sandbox.processesLeft(), [])
  })

  test('the guard restarts a daemon that hangs, limits the output of a service, and ends with the last service', async () => {
    await using sandbox = await makeSandbox()
    await using user = await startSystemdUser()
    const stage = makeSystemdFixture(sandbox, user)
    const { up, status } = stage
    await mkdir(sandbox.home, { recursive: true })
    await writeFile(join(sandbox.home, 'service.env'), 'CRABTALK_WATCHDOG=2\n', { mode: 0o600 })
    const started = await up('daemon start')
    assert.equal(started.code, 0, started.stderr)
    const first = await status()
    assert.match(await readFile(first.unit, 'utf8'), /^Wants=(ai\.crabtalk-guard\.\w+\.service)$/m)
    await restartSoon(first.unit)
    const log = join(sandbox.home, 'logs/supervisor.log')
    await until('the guard runs', () => existsSync(log))

    const printed = join(sandbox.home, 'logs/daemon.crash.log')
    const fd = openSync(printed, 'a')
    writeSync(fd, 'x'.repeat(11 * 1024 * 1024))
    await until('what it printed is cut', () => statSync(printed).size === 0)
    writeSync(fd, 'and on\n')
    closeSync(fd)
    assert.equal(statSync(printed).size, 7)

    sendSignal(first.pid, 'SIGSTOP')
    await until('systemd runs another one', async () => {
      const now = await status()
      return now.state === 'ready' && now.pid !== first.pid
    })
    assert.match(
      await readFile(log, 'utf8'),
      new RegExp(`"Hung: \\d+ probes missed .*killed process ${first.pid} `),
    )
    assert.match((await up('daemon logs')).stdout, /Hung: /)

    assert.equal((await up('daemon stop')).code, 0)
    await until('the guard has ended, too', async () => (await sandbox.processesLeft()).length === 0)
    assert.equal((await up('uninstall --yes')).code, 0)
    assert.deepEqual(unitsLeft(user), [])
  })

  test('a unit whose file was removed does not start at login, and status says so', async () => {
    await using sandbox = await makeSandbox()
    await using user = await startSystemdUser()
    const { up, status } = makeSystemdFixture(sandbox, user)
    assert.equal((await up('daemon start')).code, 0)
    const { unit } = await status()
    await rm(unit)
    const shown = (await up('daemon status')).stdout
    assert.match(shown, /at login +does not start/)
    assert.doesNotMatch(shown, /^ +unit /m)
    assert.equal((await up('daemon stop')).code, 0)
    assert.equal((await up('uninstall --yes')).code, 0)
  })

  test('crabup shows its changes to a unit that was modified, and keeps the modifications', async () => {
    await using sandbox = await makeSandbox()
    await using user = await startSystemdUser()
    const { up, status } = makeSystemdFixture(sandbox, user)
    assert.equal((await up('daemon enable')).code, 0)
    const { unit } = await status()
    await writeFile(unit, '[Service]\nExecStart=/bin/false\n')
    const enabled = await up('daemon enable')
    assert.equal(enabled.code, 0)
    assert.match(enabled.stderr, /^ {2}-ExecStart=\/bin\/false$/m)
    assert.match(enabled.stderr, /^ {2}\+ExecStart=.* daemon run$/m)
    assert.match(await readFile(`${unit}.edited`, 'utf8'), /\/bin\/false/)
    assert.equal((await up('uninstall --yes')).code, 0)
    assert.deepEqual(unitsLeft(user), [])
  })
}

/** Writes a drop-in that shortens the restart delay of three seconds. */
async function restartSoon(unit: string): Promise<void> {
  await mkdir(`${unit}.d`)
  await writeFile(join(`${unit}.d`, 'soon.conf'), '[Service]\nRestartSec=50ms\n')
}

/** Lists our files in the folder of units, without drop-ins, which belong to the user. */
function unitsLeft({ unitFolder }: SystemdUser): string[] {
  return readdirSync(unitFolder, { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.includes('ai.crabtalk') && !name.includes('.d'),
  )
}
