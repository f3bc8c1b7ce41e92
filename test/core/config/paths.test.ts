import assert from 'node:assert/strict'
import { mkdirSync, realpathSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { homePaths } from '../../../src/core/config/paths.ts'
import { makeTree } from '../../support/trees.ts'

const HERE = { cwd: '/some/dir', homeDir: '/home/me' }

for (const [value, home] of [
  [undefined, '/home/me/.crabtalk'],
  ['', '/home/me/.crabtalk'],
  ['/data/crab', '/data/crab'],
  ['data/../crab/', '/some/dir/crab'],
  ['~', '/home/me'],
  ['~/crab', '/home/me/crab'],
  ['~\\crab', '/home/me/crab'],
  ['~other', '/some/dir/~other'],
] as const) {
  test(`homePaths() returns ${home} for ${JSON.stringify(value)}`, () => {
    assert.equal(homePaths({ CRABTALK_HOME: value }, HERE).home, home)
  })
}

test("homePaths() puts every path under the home, and the user's servers into the configuration directory", () => {
  assert.deepEqual(homePaths({ CRABTALK_HOME: '/h' }, HERE), {
    home: '/h',
    config: '/h/config.toml',
    agents: '/h/agents',
    sessions: '/h/sessions',
    history: '/h/history',
    memory: '/h/memory',
    index: '/h/index',
    skills: '/h/skills',
    instructions: '/h/Crab.md',
    trust: '/h/trust.toml',
    userServers: '/home/me/.config/crabtalk/mcp.toml',
    subscriptions: '/h/events/subscriptions.toml',
    crons: '/h/config/crons.toml',
    serviceEnv: '/h/service.env',
    catalog: '/h/mcp/catalog',
    packages: '/h/packages',
    vault: '/h/vault',
    vaultChanged: '/h/vault.changed',
    vaultKeys: '/home/me/.config/crabtalk/vault-keys',
    dotEnv: '/h/.env',
    run: '/h/run',
    leases: '/h/run/leases.db',
    proc: '/h/run/proc',
    workspace: '/h/workspace',
    cache: '/h/cache',
    undo: '/h/cache/undo',
    logs: '/h/logs',
  })
  const ofConfig = (directory: string) => homePaths({ XDG_CONFIG_HOME: directory }, HERE).userServers
  assert.equal(ofConfig('/conf'), '/conf/crabtalk/mcp.toml')
  assert.equal(ofConfig('conf'), '/home/me/.config/crabtalk/mcp.toml')
})

test('homePaths() returns one home for all paths that lead to it, also before it exists', async () => {
  await using tree = await makeTree({ 'data/': '' })
  const links = { link: 'data/home', above: 'data', again: 'link', loop: 'loop' }
  for (const [name, target] of Object.entries(links)) symlinkSync(target, tree.path(name))
  const resolveHome = (path: string) => homePaths({ CRABTALK_HOME: tree.path(path) }, HERE).home
  const ways = ['data/home', 'link', 'above/home', 'again', 'data/../link']
  const home = join(realpathSync(tree.path('data')), 'home')
  for (const way of ways) assert.equal(resolveHome(way), home, way)
  mkdirSync(home)
  for (const way of ways) assert.equal(resolveHome(way), home, way)
  assert.equal(resolveHome('loop'), join(realpathSync(tree.path('.')), 'loop'))
})

test('homePaths() resolves the links of the folder of the user, also before it exists', async () => {
  await using tree = await makeTree({ 'dotfiles/': '' })
  symlinkSync('dotfiles', tree.path('.config'))
  const { userServers, vaultKeys } = homePaths({}, { cwd: '/', homeDir: tree.path('.') })
  const folder = join(realpathSync(tree.path('dotfiles')), 'crabtalk')
  assert.deepEqual([userServers, vaultKeys], [join(folder, 'mcp.toml'), join(folder, 'vault-keys')])
})

test('homePaths() requires a base directory', () => {
  assert.throws(() => homePaths({}, { cwd: '/', homeDir: '' }), {
    kind: 'config',
    message: 'Cannot choose a home directory: this user has none',
    hint: 'set CRABTALK_HOME to a directory',
  })
  assert.equal(homePaths({ CRABTALK_HOME: '/h' }, { cwd: '/', homeDir: '' }).home, '/h')
})
