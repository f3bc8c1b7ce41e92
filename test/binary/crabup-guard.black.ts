import assert from 'node:assert/strict'
import { closeSync, openSync, statSync, writeSync } from 'node:fs'
import { mkdir, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { sendSignal } from '../../src/core/process/signals.ts'
import { type Finished, makeSandbox, type Sandbox } from '../support/run-binary.ts'
import { WITH_DAEMON } from '../support/sandbox-daemon.ts'
import { until } from '../support/until.ts'

const OWN = { ...WITH_DAEMON, CRABTALK_SERVICE_MANAGER: 'supervisor' }

interface Status {
  state: string
  pid: number
  restarts: number
}

for (const name of ['daemon', 'cron']) {
  test(`our own supervisor restarts ${name} when it hangs, and shows that in ps and the log`, async () => {
    await using box = await makeSandbox()
    await setWatchdog(box, '3')
    assert.equal((await up(box, `${name} start`)).code, 0)
    const first = await readStatus(box, name)
    assert.equal(first.state, 'ready')
    sendSignal(first.pid, 'SIGSTOP')
    if (name === 'cron') await utimes(join(box.home, 'run/cron.json'), new Date(0), new Date(0)) // the service has been silent for a long time
    assert.match((await readStatus(box, name)).state, /^(starting|degraded)$/) // depends on how long the service has run
    await until('it runs again', async () => {
      const { state, pid } = await readStatus(box, name)
      return state === 'ready' && pid !== first.pid
    })
    const logs = (await up(box, `${name} logs`)).stdout
    assert.match(
      logs,
      new RegExp(`Hung: \\d+ probes missed in \\d+ s \\(.*\\); killed process ${first.pid} `),
    )
    assert.equal((await up(box, `${name} stop`)).code, 0)
  })
}

test('CRABTALK_WATCHDOG=off does not restart a service, and its output is still limited', async () => {
  await using box = await makeSandbox()
  await setWatchdog(box, 'off')
  assert.equal((await up(box, 'daemon start')).code, 0)
  const first = await readStatus(box, 'daemon')
  const path = join(box.home, 'logs/daemon.crash.log')
  const fd = openSync(path, 'a')
  for (let left = 5; left > 0; left--) {
    writeSync(fd, `${'x'.repeat(99)}\n`.repeat(110_000))
    await until('it is cut', () => statSync(path).size < 1000)
  }
  closeSync(fd)
  assert.ok(statSync(`${path}.1`).size <= 5 * 1024 * 1024)
  assert.equal((await readStatus(box, 'daemon')).pid, first.pid)
  assert.equal((await up(box, 'daemon stop')).code, 0)
})

async function setWatchdog({ home }: Sandbox, value: string): Promise<void> {
  await mkdir(home, { recursive: true })
  await writeFile(join(home, 'service.env'), `CRABTALK_WATCHDOG=${value}\n`, { mode: 0o600 })
}

async function up(box: Sandbox, line: string): Promise<Finished> {
  return await box.run(line.split(' '), { program: 'crabup', env: OWN })
}

async function readStatus(box: Sandbox, name: string): Promise<Status> {
  return JSON.parse((await up(box, `${name} status --json`)).stdout) as Status
}
