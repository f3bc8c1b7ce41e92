import assert from 'node:assert/strict'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { chooseManager } from '../../src/up/choose-manager.ts'
import { supervisorManager } from '../../src/up/managers/supervisor.ts'
import { findSupervisor } from '../../src/up/supervisor/record.ts'
import type { UpHost } from '../../src/up/types.ts'
import { makeServiceHome, type ServiceHome } from '../support/services.ts'
import { until } from '../support/until.ts'

const { signal } = new AbortController()

/** Returns the host of a home whose PATH holds only these programs, each a line of /bin/sh. */
async function hostWith(
  at: ServiceHome,
  tools: Readonly<Record<string, string>>,
  env: Readonly<Record<string, string>> = {},
): Promise<UpHost> {
  const bin = join(at.host.homeDir, 'bin')
  await mkdir(bin, { recursive: true })
  for (const [name, line] of Object.entries(tools)) {
    await writeFile(join(bin, name), `#!/bin/sh\n${line}\n`)
    await chmod(join(bin, name), 0o755)
  }
  return { ...at.host, run: at.host.run, env: { PATH: bin, XDG_RUNTIME_DIR: at.host.homeDir, ...env } }
}

/** The output of systemctl about the folders of a user's units. */
function searches({ host }: ServiceHome): string {
  return `echo "/etc/systemd/user ${host.homeDir}/.config/systemd/user"`
}

test('chooseManager() uses the manager named by CRABTALK_SERVICE_MANAGER, and says so', async () => {
  await using at = await makeServiceHome()
  for (const kind of ['supervisor', 'schtasks'] as const) {
    const host = await hostWith(at, {}, { CRABTALK_SERVICE_MANAGER: kind })
    const manager = await chooseManager(host, at, signal)
    assert.deepEqual([manager.kind, manager.note], [kind, `CRABTALK_SERVICE_MANAGER is ${kind}`])
  }
})

test('chooseManager() fails on an unknown name, and on a named manager that does not answer', async () => {
  await using at = await makeServiceHome()
  const unknown = await hostWith(at, {}, { CRABTALK_SERVICE_MANAGER: 'runit' })
  await assert.rejects(chooseManager(unknown, at, signal), { kind: 'config', message: /runit/ })
  for (const kind of ['systemd', 'launchd']) {
    const host = await hostWith(at, {}, { CRABTALK_SERVICE_MANAGER: kind })
    await assert.rejects(chooseManager(host, at, signal), { kind: 'unavailable', message: new RegExp(kind) })
  }
})

test("chooseManager() uses the system's manager if it answers, otherwise our own supervisor", async () => {
  await using at = await makeServiceHome()
  const answers = { systemctl: searches(at), launchctl: '[ "$1" = print ]' }
  const dead = { systemctl: 'echo no bus >&2; exit 1', launchctl: 'exit 125' }
  const cases = [
    ['linux', answers, 'systemd', undefined],
    ['linux', dead, 'supervisor', /systemd.*, so nothing starts at login$/],
    ['darwin', answers, 'launchd', undefined],
    ['darwin', dead, 'supervisor', /^launchd does not answer, so nothing starts at login$/],
    ['win32', {}, 'schtasks', undefined],
  ] as const
  for (const [platform, tools, kind, note] of cases) {
    const host = { ...(await hostWith(at, tools)), platform }
    const manager = await chooseManager(host, at, signal)
    assert.equal(manager.kind, kind, platform)
    if (note) assert.match(manager.note ?? '', note)
    else assert.equal(manager.note, undefined)
  }
})

test('chooseManager() keeps our own supervisor while its services run, even if it was killed and systemd answers now', async () => {
  await using at = await makeServiceHome()
  const host = { ...(await hostWith(at, { systemctl: searches(at) })), platform: 'linux' as const }
  const spec = at.spec('one', 'exec sleep 1000')
  const own = supervisorManager(at.host, at, undefined)
  await own.start(spec, signal)
  process.kill((await findSupervisor(at.folder))!.pid, 'SIGKILL')
  await until('it is lost', async () => (await findSupervisor(at.folder)) === undefined)
  const manager = await chooseManager(host, at, signal)
  assert.deepEqual(
    [manager.kind, manager.note],
    ['supervisor', 'it already runs services of this home, so nothing starts at login'],
  )
  await manager.stop(spec, signal)
  assert.equal((await chooseManager(host, at, signal)).kind, 'systemd')
})
