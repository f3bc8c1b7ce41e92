import assert from 'node:assert/strict'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { type HttpRequest, startHttpServer } from '../support/mcp/http-server.ts'
import { type McpDaemon, startMcpDaemon } from '../support/mcp/mcp-daemon.ts'
import {
  entriesToml,
  type StdioEntry,
  type WatchedServer,
  watchedServer,
} from '../support/mcp/mcp-servers.ts'
import { recordFolder } from '../support/mcp/record-folder.ts'
import { endLiving } from '../support/orphans.ts'
import { makeSandbox } from '../support/run-binary.ts'

const DIFFERENCES: Record<
  string,
  { change: (entry: StdioEntry, folder: string) => object; processes: number }
> = {
  nothing: { change: () => ({}), processes: 1 },
  'the name': { change: () => ({ name: 'another' }), processes: 1 },
  'filters and permissions': {
    change: () => ({ include: ['echo'], permissions: { allow: ['*'] } }),
    processes: 1,
  },
  'one value of the environment': { change: () => ({ env: { TOKEN: 'other' } }), processes: 2 },
  'the working directory': { change: (_, folder) => ({ cwd: folder }), processes: 2 },
  'one argument': { change: ({ args }) => ({ args: [...args, '--name=other'] }), processes: 2 },
  'that it is not shared': { change: () => ({ share: false }), processes: 2 },
}

for (const [difference, { change, processes }] of Object.entries(DIFFERENCES)) {
  test(`two agents whose servers differ in ${difference} have ${processes} in one process of crabtalk`, async () => {
    await using box = await makeSandbox()
    const server: WatchedServer = watchedServer(box.cwd, {}, { env: { TOKEN: 'one' }, isPlain: true })
    await mkdir(join(box.home, 'agents'), { recursive: true })
    const entries = { ann: server.entry, bob: { ...server.entry, ...change(server.entry, box.cwd) } }
    for (const [name, entry] of Object.entries(entries)) {
      await writeFile(join(box.home, 'agents', `${name}.toml`), entriesToml(entry))
    }
    try {
      const { stdout, stderr, code } = await box.run(['mcp', 'ping', '--all', '--json'])
      assert.deepEqual([stderr, code], ['', 0])
      const pings = JSON.parse(stdout).filter(({ agent }: { agent: string }) => agent in entries)
      assert.equal(new Set(pings.map(({ pid }: { pid: number }) => pid)).size, processes)
      assert.equal(server.starts().length, processes)
    } finally {
      await endLiving(server.mark)
    }
  })
}

const REMOTE_DIFFERENCES: Record<string, { change: object; sessions: number }> = {
  nothing: { change: {}, sessions: 1 },
  'the name': { change: { name: 'another' }, sessions: 1 },
  'filters and permissions': { change: { include: ['echo'], permissions: { allow: ['*'] } }, sessions: 1 },
  'the credential': { change: { auth: 'token-of-bob' }, sessions: 2 },
  'one header': { change: { headers: { 'x-team': 'b' } }, sessions: 2 },
  'that it is not shared': { change: { share: false }, sessions: 2 },
}

for (const [difference, { change, sessions }] of Object.entries(REMOTE_DIFFERENCES)) {
  test(`two agents whose HTTP servers differ in ${difference} have ${sessions} in one daemon`, async () => {
    await using records = await recordFolder()
    await using server = await startHttpServer(records.path)
    const ann = { name: 'one', url: server.url, auth: 'token-of-ann', headers: { 'x-team': 'a' } }
    const bob = { ...ann, ...change }
    await using node = await startMcpDaemon({ ann: [ann], bob: [bob] })
    await makeToolCall(node, 'ann', ann.name)
    await makeToolCall(node, 'bob', bob.name)
    const requests = server.requests()
    assert.equal(requests.filter(({ method }) => method === 'initialize').length, sessions)
    assert.equal(new Set(callsIn(requests).map(({ session }) => session)).size, sessions)
    assert.deepEqual(
      callsIn(requests).map(({ auth }) => auth),
      [`Bearer ${ann.auth}`, `Bearer ${bob.auth}`],
    )
    for (const { session } of callsIn(requests)) {
      const auths = requests.filter((request) => request.session === session).map(({ auth }) => auth)
      assert.equal(new Set(auths).size, 1, 'a session has one credential')
    }
  })
}

test('servers of two agents with their own credentials each see only their own, and nothing of the host', async () => {
  await using records = await recordFolder()
  const tokens = { ann: 'token-of-ann', bob: 'token-of-bob' }
  const server = watchedServer(records.path, {}, { name: 'one', isPlain: true })
  const entryOf = (agent: keyof typeof tokens) => ({ ...server.entry, env: { TOKEN: tokens[agent] } })
  const env = { OPENAI_API_KEY: 'key-of-host' }
  await using node = await startMcpDaemon({ ann: [entryOf('ann')], bob: [entryOf('bob')] }, { env })
  for (const agent of ['ann', 'bob'] as const) {
    const seen = await node.call('one', 'env', { name: 'TOKEN' }, { agent })
    assert.equal(seen.output, '[secret]')
    const { pid } = await node.peer('one', agent)
    const environment = await readFile(`/proc/${pid}/environ`, 'utf8')
    const found = [...Object.values(tokens), env.OPENAI_API_KEY].filter((secret) =>
      environment.includes(secret),
    )
    assert.deepEqual(found, [tokens[agent]])
  }
  assert.equal(server.starts().length, 2)
  const text = JSON.stringify(await node.peers()) + (await node.home.read('logs/daemon.log'))
  assert.doesNotMatch(text, /token-of|key-of/)
})

async function makeToolCall(node: McpDaemon, agent: string, name: string): Promise<void> {
  assert.equal((await node.call(name, 'echo', { text: agent }, { agent })).output, agent)
}

function callsIn(requests: readonly HttpRequest[]): HttpRequest[] {
  return requests.filter(({ method }) => method === 'tools/call')
}
