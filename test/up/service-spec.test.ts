import assert from 'node:assert/strict'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import type { HomePaths } from '../../src/core/config/paths.ts'
import {
  findService,
  listServices,
  resolveSpec,
  type SpecContext,
} from '../../src/up/services/service-spec.ts'
import { temporaryHome } from '../support/temporary-home.ts'

test('resolveSpec() runs built-in services as subcommands, with home and PATH and no secrets', async () => {
  await using home = await temporaryHome()
  const { paths } = home
  assert.deepEqual(resolveSpec('daemon', toContext(paths)), {
    name: 'daemon',
    label: 'ai.crabtalk.daemon',
    description: 'Agents, conversations, memory and MCP servers',
    argv: ['/usr/bin/crabtalk', 'daemon', 'run'],
    cwd: paths.home,
    env: { CRABTALK_HOME: paths.home, PATH: '/usr/bin:/bin' },
    envFile: join(paths.home, 'service.env'),
    output: join(paths.logs, 'daemon.crash.log'),
  })
  assert.deepEqual(resolveSpec('cron', toContext(paths)).argv, ['/usr/bin/crabtalk', 'cron', 'run'])
})

test('resolveSpec() gives the services of another home their own labels', async () => {
  await using home = await temporaryHome()
  const { label } = resolveSpec('daemon', { ...toContext(home.paths), usualHome: '/home/me/.crabtalk' })
  assert.match(label, /^ai\.crabtalk\.daemon\.[0-9a-f]{8}$/)
})

test('resolveSpec() runs a component through the stable link, and a script with Node', async () => {
  await using home = await temporaryHome()
  await install(home.paths, 'clock')
  const script = join(home.paths.packages, 'clock', 'current', 'clock.js')
  const context = toContext(home.paths)
  assert.deepEqual(resolveSpec('clock', context).argv, ['/usr/bin/node', script])
  assert.throws(() => resolveSpec('clock', { ...context, node: undefined }), {
    kind: 'missing',
    message: /^Cannot run clock: .* no node is on the PATH of services$/,
  })
  await install(home.paths, 'gate', { runsOnNode: false })
  assert.deepEqual(resolveSpec('gate', context).argv, [
    join(home.paths.packages, 'gate', 'current', 'clock.js'),
  ])
})

test('resolveSpec() makes services read the file of variables, and exit with 0 on errors under launchd', async () => {
  await using home = await temporaryHome()
  await install(home.paths, 'clock')
  const place = { ...toContext(home.paths), platform: 'darwin' as const }
  const file = join(home.paths.home, 'service.env')
  for (const name of ['daemon', 'cron']) {
    assert.deepEqual(resolveSpec(name, place).argv.slice(1), [name, 'run', '--env-file', file, '--give-up'])
  }
  assert.equal(resolveSpec('clock', place).argv.length, 2)
  const own = join(home.paths.run, 'env', 'clock.env')
  assert.equal(resolveSpec('clock', { ...place, hasEnvFile: true }).argv[1], `--env-file=${own}`)
})

test('listServices() lists built-in and installed services', async () => {
  await using home = await temporaryHome()
  await install(home.paths, 'clock')
  const names = listServices(home.paths).map(({ name, version }) => [name, version])
  assert.deepEqual(names, [
    ['daemon', undefined],
    ['cron', undefined],
    ['clock', '1.2.3'],
  ])
})

/** Unknown names, the error for each, and its hint. */
const UNKNOWN: [string, RegExp, RegExp][] = [
  ['dameon', /no service has that name/, /^did you mean "daemon"\?$/],
  ['frobnicate', /no service has that name/, /^the services are daemon, cron$/],
  ['clock', /it is not installed/, /crabup pull clock/],
  ['tui', /it runs when you open it/, /crabtalk/],
]

for (const [name, message, hint] of UNKNOWN) {
  test(`findService() says what is wrong with ${name}`, async () => {
    await using home = await temporaryHome()
    assert.throws(() => findService(home.paths, name), { kind: 'no-service', message, hint })
  })
}

function toContext(paths: HomePaths): SpecContext {
  return {
    paths,
    usualHome: paths.home,
    platform: 'linux',
    program: ['/usr/bin/crabtalk'],
    path: '/usr/bin:/bin',
    hasOwnPath: false,
    node: '/usr/bin/node',
    hasEnvFile: false,
  }
}

/** Writes what `crabup pull` leaves behind. */
async function install({ packages }: HomePaths, name: string, { runsOnNode = true } = {}): Promise<void> {
  const folder = join(packages, name)
  await mkdir(join(folder, '1.2.3'), { recursive: true })
  await symlink('1.2.3', join(folder, 'current'))
  const record = {
    ...{
      origin: 'registry',
      package: `crabtalk-${name}`,
      version: '1.2.3',
      description: 'A component',
      runsOnNode,
    },
    ...{ script: 'clock.js', installedAt: '2026-11-22T00:00:00.000Z', source: `crabtalk-${name}` },
  }
  await writeFile(join(folder, '1.2.3', 'crabup.json'), JSON.stringify(record))
}
