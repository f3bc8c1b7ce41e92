import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { watch } from 'node:fs'
import { mkdir, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { migrateServers } from '../../../src/core/config/migrate-servers.ts'
import { MemoryLeases } from '../../../src/core/lease/memory-leases.ts'
import { agentStore } from '../../support/agent-store.ts'
import { mountReadOnly } from '../../support/small-disk.ts'
import { type TemporaryHome, temporaryHome } from '../../support/temporary-home.ts'

const NEVER = new AbortController().signal
const REGISTRY =
  '[fs]\ncommand = "fs-server" # mine\nauto_restart = true\n\n[web]\nurl = "http://127.0.0.1:9/mcp"\n'
const OLD = '# Mine.\nmodel = "m"\nmcps = ["fs", "web"]\n'

test('migrateServers() writes servers into the files of agents, makes backups, and retires the registry', async () => {
  await using home = await temporaryHome()
  await home.write('mcps.toml', REGISTRY)
  await home.write('agents/crab.toml', OLD)
  await home.write('agents/other.toml', 'mcps = ["gone", "fs"]\n')
  await home.write('agents/new.toml', 'model = "m"\n')
  const messages = await migrate(home)
  assert.deepEqual(messages, [
    'warn agents/other.toml:1: the MCP server "gone" is not in a registry; its name was left there as a comment',
    'info MCP servers are now in the files of their agents (agents/crab.toml, agents/other.toml); the old files are beside them as .toml.bak',
    'info mcps.toml is mcps.toml.bak now, since no agent needs it',
  ])
  assert.deepEqual(await namesIn(home), [
    'crab.toml',
    'crab.toml.bak',
    'new.toml',
    'other.toml',
    'other.toml.bak',
  ])
  assert.equal(await home.read('agents/crab.toml.bak'), OLD)
  assert.equal(await home.read('mcps.toml.bak'), REGISTRY)
  assert.equal(await home.read('agents/new.toml'), 'model = "m"\n')
  const { agents, problems } = await agentStore(home.paths).list()
  assert.deepEqual(problems, [])
  assert.deepEqual(agents[0]?.mcps, [
    { name: 'fs', command: 'fs-server' },
    { name: 'web', url: 'http://127.0.0.1:9/mcp' },
  ])
  assert.deepEqual(
    agents[2]?.mcps.map(({ name }) => name),
    ['fs'],
  )
})

test('a second migration changes nothing and reports nothing', async () => {
  await using home = await temporaryHome()
  await home.write('mcps.toml', REGISTRY)
  await home.write('agents/crab.toml', OLD)
  await home.write('agents/other.toml', 'mcps = ["gone"]\n')
  await migrate(home)
  const before = await readContents(home)
  assert.deepEqual(await migrate(home), [])
  assert.deepEqual(await readContents(home), before)
})

test('servers in config.toml are moved, and the rest of it stays', async () => {
  await using home = await temporaryHome()
  const config = '# Mine.\nmodel = "m"\n\n[mcps.fs]\ncommand = "fs-server"\n\n[env]\nLOG = "1" # loud\n'
  await home.write('config.toml', config)
  await home.write('agents/crab.toml', 'mcps = ["fs"]\n')
  await migrate(home)
  assert.equal(await home.read('config.toml'), '# Mine.\nmodel = "m"\n\n[env]\nLOG = "1" # loud\n')
  assert.equal(await home.read('config.toml.bak'), config)
  assert.deepEqual((await agentStore(home.paths).get('crab')).mcps, [{ name: 'fs', command: 'fs-server' }])
})

test('an unreadable registry changes no agent, and is reported', async () => {
  await using home = await temporaryHome()
  await home.write('mcps.toml', '[fs\n')
  await home.write('agents/crab.toml', OLD)
  const [line, ...more] = await migrate(home)
  assert.match(line ?? '', /^warn Cannot move the MCP servers .*: mcps\.toml:1:\d+: not valid TOML/)
  assert.deepEqual(more, [])
  assert.deepEqual([await home.read('agents/crab.toml'), await namesIn(home)], [OLD, ['crab.toml']])
})

test('the registry stays as long as an agent cannot be read', async () => {
  await using home = await temporaryHome()
  await home.write('mcps.toml', REGISTRY)
  await home.write('agents/broken.toml', 'mcps = ["fs"\n')
  await home.write('agents/crab.toml', OLD)
  await migrate(home)
  assert.equal(await home.read('mcps.toml'), REGISTRY)
  await home.write('agents/broken.toml', 'mcps = ["fs"]\n')
  await migrate(home)
  assert.equal(await home.read('mcps.toml.bak'), REGISTRY)
  assert.equal((await agentStore(home.paths).list()).agents.length, 2)
})

test('existing backups are not overwritten', async () => {
  await using home = await temporaryHome()
  await home.write('mcps.toml', REGISTRY)
  await home.write('mcps.toml.bak', 'theirs')
  await home.write('agents/crab.toml', OLD)
  await home.write('agents/crab.toml.bak', 'theirs')
  await migrate(home)
  assert.deepEqual(
    [await home.read('mcps.toml.bak'), await home.read('agents/crab.toml.bak')],
    ['theirs', 'theirs'],
  )
  assert.deepEqual(
    [await home.read('mcps.toml.bak2'), await home.read('agents/crab.toml.bak2')],
    [REGISTRY, OLD],
  )
})

test('an agent that cannot be written does not stop the others, and keeps the registry', async () => {
  await using home = await temporaryHome()
  await home.write('mcps.toml', REGISTRY)
  for (const agent of ['a', 'b']) await home.write(`agents/${agent}.toml`, OLD)
  await mkdir(join(home.paths.agents, 'a.toml.bak'))
  const messages = await migrate(home)
  assert.match(messages[0] ?? '', /^warn Cannot move the MCP servers .*a\.toml/)
  assert.equal(messages.length, 2)
  assert.deepEqual([await home.read('agents/a.toml'), await home.read('mcps.toml')], [OLD, REGISTRY])
  assert.equal((await agentStore(home.paths).get('b')).mcps.length, 2)
})

test('a full or read-only disk is reported, and nothing is changed', async (t) => {
  await using home = await temporaryHome()
  await home.write('mcps.toml', REGISTRY)
  await home.write('agents/crab.toml', OLD)
  using frozen = mountReadOnly(home.paths.home)
  if (!frozen) return t.diagnostic('no right to mount')
  const paths = {
    home: frozen.path,
    agents: join(frozen.path, 'agents'),
    config: join(frozen.path, 'config.toml'),
  }
  const [line, ...more] = await migrate({ paths })
  assert.match(line ?? '', /^warn Cannot move the MCP servers .* the file system is read-only/)
  assert.deepEqual([more, await namesIn(home)], [[], ['crab.toml']])
})

test('after a kill every file is old or new, and the next process completes the migration', async () => {
  const agents = Array.from({ length: 20 }, (_, i) => `a${String(i).padStart(2, '0')}.toml`)
  for (const goal of [2, 3, 4, 5, 6, 7, 8, 9, 40, 77, 150]) {
    await using home = await temporaryHome()
    await home.write('mcps.toml', REGISTRY)
    for (const agent of agents) await home.write(`agents/${agent}`, OLD)
    const child = startMigration(home)
    let changes = 0
    const watcher = watch(home.paths.agents, () => {
      if (++changes >= goal) child.kill('SIGKILL') // each time at another step
    })
    child.stdin.write('go\n')
    await once(child, 'exit')
    watcher.close()
    const texts = await Promise.all(agents.map((agent) => home.read(`agents/${agent}`)))
    for (const text of texts) assert.ok(text === OLD || text.endsWith('9/mcp"\n'), text)
    const isRetired = (await readdir(home.paths.home)).includes('mcps.toml.bak')
    assert.ok(!isRetired || texts.every((text) => text !== OLD), 'the registry went before an agent')
    await migrate(home)
    const after = await agentStore(home.paths).list()
    assert.deepEqual([after.problems, after.agents.map(({ mcps }) => mcps.length)], [[], agents.map(() => 2)])
    assert.deepEqual(
      (await namesIn(home)).filter((name) => !name.endsWith('.tmp')),
      agents.flatMap((agent) => [agent, `${agent}.bak`]),
    )
    assert.equal(await home.read('mcps.toml.bak'), REGISTRY)
  }
})

test('concurrent processes migrate once', async () => {
  await using home = await temporaryHome()
  await home.write('mcps.toml', REGISTRY)
  for (const agent of ['a', 'b', 'c']) await home.write(`agents/${agent}.toml`, OLD)
  const racers = [1, 2, 3, 4].map(() => startMigration(home))
  const outputs = racers.map(async ({ stdout }) => (await stdout.setEncoding('utf8').toArray()).join(''))
  for (const { stdin } of racers) stdin.write('go\n')
  assert.deepEqual(
    (await Promise.all(outputs)).map((text) => text.split('\n').length).toSorted(),
    [2, 2, 2, 4],
  )
  assert.deepEqual((await readdir(home.paths.home)).toSorted(), ['agents', 'mcps.toml.bak', 'run'])
  assert.deepEqual((await namesIn(home)).length, 6)
})

async function migrate({
  paths,
}: {
  paths: Pick<TemporaryHome['paths'], 'home' | 'agents' | 'config'>
}): Promise<string[]> {
  const messages: string[] = []
  const leases = new MemoryLeases()
  const tell = (level: string, message: string) => void messages.push(`${level} ${message}`)
  await migrateServers({ paths, lock: (resource) => leases.take(resource, NEVER), log: tell })
  return messages
}

function startMigration({ paths }: TemporaryHome) {
  const program = join(import.meta.dirname, 'migration-program.ts')
  return spawn(process.execPath, [program, paths.home], { stdio: ['pipe', 'pipe', 'inherit'] })
}

async function namesIn({ paths }: TemporaryHome): Promise<string[]> {
  return (await readdir(paths.agents)).toSorted()
}

async function readContents({ paths }: TemporaryHome): Promise<Record<string, string>> {
  const files = (await readdir(paths.home, { recursive: true })).filter((name) => /\.(toml|bak)$/.test(name))
  const texts = files.map(async (file) => [file, await readFile(join(paths.home, file), 'utf8')] as const)
  return Object.fromEntries(await Promise.all(texts))
}
