import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TCP_CLIENT } from '../../src/core/policy/trust.ts'
import {
  type DeepPartial,
  McpActionKind,
  McpPeerState,
  type StreamMsg,
} from '../../src/core/protocol/crabtalk.generated.ts'
import { request, route } from '../../src/core/protocol/dispatch.ts'
import { handlers } from '../../src/daemon/handlers/handlers.ts'
import type { WatchedServer } from '../support/mcp/mcp-servers.ts'
import { isRunning } from '../support/mcp/record-folder.ts'
import { type ObservedNode, startObservedNode } from '../support/observed-node.ts'
import { until } from '../support/until.ts'

const NEVER = new AbortController().signal

test('an invalid server of a file costs a turn only its own tools, and is listed with the reason', async () => {
  await using node = await startObservedNode(() => ({ parts: ['yes'] }))
  const own = node.watch('own')
  await node.declare('crab', own)
  const file = await node.home.read('agents/crab.toml')
  await node.home.write(
    'agents/crab.toml',
    `${file}\n[[mcps]]\nname = "bad"\ncommand = "x"\ntimeuot_ms = 5\n`,
  )
  await ask(node, 'one', {})
  assert.deepEqual(offeredServers(node), ['own'])
  const { agents } = await request(node.dispatch, 'mcpView', { agent: 'crab' }, NEVER)
  const bad = agents[0]!.servers.find(({ name }) => name === 'bad')!
  assert.equal(bad.state, McpPeerState.INVALID)
  assert.match(`${bad.source} ${bad.error}`, /^agents\/crab\.toml:\d+ unknown key "mcps\[1\]\.timeuot_ms"/)
  const ping = { agent: 'crab', name: 'bad', action: McpActionKind.PING }
  await assert.rejects(request(node.dispatch, 'mcpAction', ping, NEVER), {
    kind: 'config',
    message: /timeuot_ms/,
  })
  await request(node.dispatch, 'deleteMcp', { agent: 'crab', name: 'bad' }, NEVER)
  assert.ok((await node.home.read('agents/crab.toml')).endsWith(file))
})

test('a server that a client attaches exists for its conversation only, in any of its turns', async () => {
  await using node = await startObservedNode(() => ({ parts: ['yes'] }))
  const [own, extra] = [node.watch('own'), node.watch('extra')]
  await node.declare('crab', own)
  await ask(node, 'one', { options: { mcps: [toConfig(extra)] } })
  assert.deepEqual(offeredServers(node), ['extra', 'own'])
  const [pid] = extra.starts()
  await ask(node, 'two', { options: { mcps: [toConfig(extra)] } })
  await ask(node, 'three', { sender: 'bob' })
  assert.deepEqual(offeredServers(node), ['own'])
  assert.deepEqual([extra.starts(), isRunning(pid!), own.starts().length], [[pid], true, 1])
  assert.doesNotMatch(await node.home.read('agents/crab.toml'), /extra/)
  await ask(node, 'four', {})
  assert.deepEqual(offeredServers(node), ['own'])
  await until('it has ended', () => !isRunning(pid!))
})

test('an attached server is called by the rules that come with it', async () => {
  const call = { call: 'c', name: 'mcp__extra__echo', args: '{"text":"hi"}' }
  await using node = await startObservedNode((_, at) =>
    at % 2 === 0 ? { parts: [call] } : { parts: ['done'] },
  )
  const extra = node.watch('extra')
  const allowed = { ...JSON.parse(toConfig(extra)), permissions: { allow: ['echo'] } }
  await ask(node, 'one', { options: { mcps: [JSON.stringify(allowed)] } })
  assert.match(node.server.requests[1]!.text, /"content":"hi[\\"]/)
  await ask(node, 'two', { options: { mcps: [toConfig(extra)] } })
  assert.match(node.server.requests[3]!.text, /Not permitted/)
})

test('attaching a server fails when it is invalid, its name is taken, or the client is untrusted', async () => {
  await using node = await startObservedNode(() => ({ parts: ['yes'] }))
  const own = node.watch('own')
  await node.declare('crab', own)
  const refusals: [string, string, RegExp][] = [
    ['{"name":"x"}', 'invalid', /^Cannot attach the MCP server 1: /],
    ['[]', 'invalid', /not a JSON object/],
    [toConfig(own), 'invalid', /the agent "crab" already has one of that name/],
  ]
  for (const [text, kind, message] of refusals) {
    await assert.rejects(ask(node, 'x', { options: { mcps: [text] } }), { kind, message })
  }
  const remote = { ...node, dispatch: route(handlers(node.services, TCP_CLIENT)) }
  await assert.rejects(ask(remote, 'x', { sender: 'tg:1', options: { mcps: [toConfig(own)] } }), {
    kind: 'denied',
  })
  assert.equal(node.server.requests.length, 0)
})

function ask({ dispatch }: Pick<ObservedNode, 'dispatch'>, content: string, more: DeepPartial<StreamMsg>) {
  return request(dispatch, 'send', { agent: 'crab', sender: 'ann', content, ...more }, NEVER)
}

function toConfig({ entry }: WatchedServer): string {
  return JSON.stringify({ ...entry, startup_timeout_ms: 60_000 })
}

/** Returns the names of the servers whose tools the last request offers. */
function offeredServers({ server }: ObservedNode): string[] {
  const tools = (server.requests.at(-1)!.json['tools'] ?? []) as { function: { name: string } }[]
  const names = tools.flatMap(({ function: { name } }) => /^mcp__(\w+?)__/.exec(name)?.[1] ?? [])
  return [...new Set(names)].toSorted()
}
