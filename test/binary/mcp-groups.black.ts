import assert from 'node:assert/strict'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { manyToolsServer } from '../support/mcp/many-tools.ts'
import { entriesToml, type WatchedServer } from '../support/mcp/mcp-servers.ts'
import { isRunning } from '../support/mcp/record-folder.ts'
import type { RecordedRequest } from '../support/model-server.ts'
import { endLiving } from '../support/orphans.ts'
import { HAS_DAEMONS } from '../support/run-binary.ts'
import { startSandboxDaemon, WITH_DAEMON } from '../support/sandbox-daemon.ts'
import { makeToolTalk, type ToolTalk } from '../support/tool-talk.ts'
import { until } from '../support/until.ts'

const BUILT_IN = [
  'read',
  'write',
  'edit',
  'bash',
  'glob',
  'grep',
  'remember',
  'forget',
  'recall',
  'search_sessions',
  'ask_user',
  'todo',
]
const GUIDES = ['tools_groups', 'tools_select', 'tools_search']
const ALLOW = ['--allow', 'mcp__web__*']
const SURVEY = [
  ['tools_groups', {}],
  ['tools_select', { group: 'mcp:web' }],
  ['mcp__web__tool_07', { id: 'a' }],
] as const

test('send offers an agent with 62 tools the search tools first, and the agent lists groups, selects and calls', async () => {
  await using talk = await makeToolTalk()
  await using servers = await declare(talk)
  const answers = await talk.act(SURVEY, ALLOW)
  assertSurveyed(talk, answers, servers)
  assert.deepEqual(toolsIn(talk.server.requests.at(-1)), [...BUILT_IN, ...GUIDES, ...toolNames('web', 22)])
  const [said] = await talk.act([['mcp__db__tool_07', { id: 'a' }]], ['-c', '--yolo'])
  assert.match(said!, /^Cannot call mcp__db__tool_07: it is not selected\. Select it first with tools_select/)
  assert.deepEqual(toolsIn(talk.server.requests.at(-1)), [...BUILT_IN, ...GUIDES, ...toolNames('web', 22)])
  assert.deepEqual(servers.db.messages('tools/call'), [])
})

test('a selection of tools survives the kill and restart of the daemon', async () => {
  await using talk = await makeToolTalk()
  await using servers = await declare(talk)
  const options = { env: WITH_DAEMON }
  await using _first = HAS_DAEMONS ? undefined : await startSandboxDaemon(talk)
  const answers = await talk.act(SURVEY, ALLOW, options)
  assertSurveyed(talk, answers, servers)
  const selected = toolText(talk.server.requests.at(-1))
  await killDaemon(talk)
  await using _second = await startSandboxDaemon(talk)
  const [said] = await talk.act([['mcp__web__tool_08', { id: 'b' }]], ['-c', ...ALLOW], options)
  assert.equal(said, 'tool_08 {"id":"b"}')
  assert.equal(toolText(talk.server.requests.at(-1)), selected)
})

/** Kills the daemon of a sandbox and removes its socket, so that a wait for the next daemon does wait. */
async function killDaemon(talk: ToolTalk): Promise<void> {
  const { stdout } = await talk.run(['daemon', 'status', '--json'], { env: WITH_DAEMON })
  const { pid } = JSON.parse(stdout)
  process.kill(pid, 'SIGKILL')
  await until('the daemon is gone', () => !isRunning(pid))
  await rm(join(talk.home, 'run', 'crabtalk.sock'))
}

/** Checks that the first request had only the built-in tools and the search tools, and was small. */
function assertSurveyed({ server }: ToolTalk, answers: readonly string[], { web }: Servers): void {
  const [first] = server.requests
  assert.deepEqual(toolsIn(first), [...BUILT_IN, ...GUIDES])
  assert.ok(Buffer.byteLength(first!.text) < 5_000, `${Buffer.byteLength(first!.text)} bytes`)
  const groups = JSON.parse(answers[0]!).groups as { id: string; member_count: number }[]
  assert.deepEqual(
    groups.slice(-2).map(({ id, member_count }) => [id, member_count]),
    [
      ['mcp:web', 22],
      ['mcp:db', 40],
    ],
  )
  assert.equal(JSON.parse(answers[1]!).selected.length, 22)
  assert.equal(answers[2], 'tool_07 {"id":"a"}')
  assert.deepEqual(
    web.messages('tools/call').map(({ params }) => params!['name']),
    ['tool_07'],
  )
}

interface Servers extends AsyncDisposable {
  web: WatchedServer
  db: WatchedServer
}

/** Gives the agent 22 tools of one server and 40 of another. */
async function declare({ home, cwd }: ToolTalk): Promise<Servers> {
  const web = manyToolsServer(cwd, { name: 'web', count: 22 })
  const db = manyToolsServer(cwd, { name: 'db', count: 40 })
  await mkdir(join(home, 'agents'), { recursive: true })
  const entries = [web, db].map(({ entry }) => ({ ...entry, startup_timeout_ms: 60_000 }))
  await writeFile(join(home, 'agents', 'crab.toml'), entriesToml(...entries))
  return {
    ...{ web, db },
    async [Symbol.asyncDispose]() {
      for (const { mark } of [web, db]) await endLiving(mark)
    },
  }
}

function toolNames(server: string, count: number): string[] {
  return Array.from({ length: count }, (_, n) => `mcp__${server}__tool_${String(n).padStart(2, '0')}`)
}

function toolsIn(asked: RecordedRequest | undefined): string[] {
  const tools = (asked?.json['tools'] ?? []) as { function: { name: string } }[]
  return tools.map((tool) => tool.function.name)
}

function toolText(asked: RecordedRequest | undefined): string {
  return JSON.stringify(asked?.json['tools'])
}
