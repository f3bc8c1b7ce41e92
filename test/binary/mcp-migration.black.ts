import assert from 'node:assert/strict'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { renderToml } from '../../src/core/config/toml-render.ts'
import { misbehavingEntry } from '../support/mcp/mcp-servers.ts'
import { makeSandbox, type Sandbox } from '../support/run-binary.ts'
import { startSandboxDaemon, WITH_DAEMON } from '../support/sandbox-daemon.ts'
import { makeTalk } from '../support/talk.ts'
import { until } from '../support/until.ts'

const { name: _, ...PROGRAM } = misbehavingEntry({ tools: ['few'] })
const REGISTRY = renderToml({ mcps: [{ name: 'fs', ...PROGRAM, auto_restart: true }] })
const OLD = '# Mine.\nmcps = ["fs", "gone"] # both\nmax_iterations = 5\n'

test('the first command after an update moves the servers into the agent files, says so once, and a turn has them', async () => {
  await using talk = await makeTalk([{ parts: ['yes'] }, { parts: ['yes'] }])
  await writeOld(talk)
  const first = await talk.send(['hello'])
  assert.deepEqual([first.stdout, first.code], ['yes\n', 0])
  assert.deepEqual(first.stderr.split('\n'), [
    'crabtalk: agents/crab.toml:2: the MCP server "gone" is not in a registry; its name was left there as a comment',
    'crabtalk: MCP servers are now in the files of their agents (agents/crab.toml); the old files are beside them as .toml.bak',
    'crabtalk: mcps.toml is mcps.toml.bak now, since no agent needs it',
    '',
  ])
  assert.match(talk.server.requests[0]!.text, /"mcp__fs__echo"/)
  const text = await readFile(join(talk.home, 'agents/crab.toml'), 'utf8')
  assert.match(
    text,
    /^# Mine\.\n# both\n# Servers .*\n# mcps = \["gone"\]\nmax_iterations = 5\nid = .*\n\n\[\[mcps\]\]\nname = "fs"\n/,
  )
  assert.doesNotMatch(text, /auto_restart/)
  assert.equal(await readFile(join(talk.home, 'agents/crab.toml.bak'), 'utf8'), OLD)
  assert.equal(await readFile(join(talk.home, 'mcps.toml.bak'), 'utf8'), REGISTRY)
  const second = await talk.send(['hello'])
  assert.deepEqual([second.stdout, second.stderr, second.code], ['yes\n', '', 0])
  assert.equal(await readFile(join(talk.home, 'agents/crab.toml'), 'utf8'), text)
})

test('a daemon migrates when it starts, and when it reloads', async () => {
  await using box = await makeSandbox()
  await writeOld(box)
  await using _daemon = await startSandboxDaemon(box)
  assert.deepEqual(await namesOf(box, 'crab'), ['fs'])
  assert.match(
    await readFile(join(box.home, 'logs/daemon.log'), 'utf8'),
    /MCP server \\"gone\\" is not in a registry/,
  )
  await write(box, 'agents/late.toml', 'mcps = ["fs"]\n')
  await write(box, 'mcps.toml', REGISTRY)
  const { code } = await box.run(['daemon', 'reload'], { env: WITH_DAEMON })
  assert.equal(code, 0)
  assert.deepEqual(await namesOf(box, 'late'), ['fs'])
})

test('a program that is killed during the migration leaves each file complete, and the next one finishes it', async () => {
  for (const goal of [1, 20]) {
    await using box = await makeSandbox()
    const agents = Array.from({ length: 30 }, (_, i) => `agent${i}`)
    for (const agent of agents) await write(box, `agents/${agent}.toml`, 'mcps = ["fs"]\n')
    await write(box, 'mcps.toml', REGISTRY)
    const { child, finished } = box.start(['agent', 'list'])
    await until('some are done', async () => (await backups(box)) >= goal)
    child.kill('SIGKILL')
    await finished
    const texts = await Promise.all(
      agents.map((agent) => readFile(join(box.home, `agents/${agent}.toml`), 'utf8')),
    )
    for (const text of texts)
      assert.ok(text === 'mcps = ["fs"]\n' || /\[\[mcps\]\]\nname = "fs"\n/.test(text), text)
    const rest = await box.run(['mcp', 'list', '--all', '--json'])
    assert.equal(rest.code, 0)
    assert.deepEqual(
      (JSON.parse(rest.stdout) as { name: string }[]).map(({ name }) => name),
      agents.map(() => 'fs'),
    )
    assert.deepEqual([await backups(box), (await readdir(box.home)).includes('mcps.toml')], [30, false])
  }
})

async function writeOld(box: Pick<Sandbox, 'home'>): Promise<void> {
  await write(box, 'agents/crab.toml', OLD)
  await write(box, 'mcps.toml', REGISTRY)
}

async function write({ home }: Pick<Sandbox, 'home'>, file: string, text: string): Promise<void> {
  await mkdir(dirname(join(home, file)), { recursive: true, mode: 0o700 })
  await writeFile(join(home, file), text)
}

async function namesOf(box: Sandbox, agent: string): Promise<string[]> {
  const { stdout } = await box.run(['mcp', 'list', '-a', agent, '--json'], { env: WITH_DAEMON })
  return (JSON.parse(stdout) as { name: string }[]).map(({ name }) => name)
}

async function backups({ home }: Sandbox): Promise<number> {
  return (await readdir(join(home, 'agents'))).filter((name) => name.endsWith('.bak')).length
}
