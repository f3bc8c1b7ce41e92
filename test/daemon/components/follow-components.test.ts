import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { McpPeerState, type McpView } from '../../../src/core/protocol/crabtalk.generated.ts'
import { request } from '../../../src/core/protocol/dispatch.ts'
import { followComponents } from '../../../src/daemon/components/follow-components.ts'
import { freePort, startComponent, type TestComponent } from '../../support/component.ts'
import { recordFolder } from '../../support/mcp/record-folder.ts'
import type { Script } from '../../support/model-server.ts'
import { type ObservedNode, startObservedNode } from '../../support/observed-node.ts'
import { until } from '../../support/until.ts'

const NEVER = new AbortController().signal
const ECHO = { call: 'c', name: 'mcp__clock__echo', args: '{"text":"tick"}' }
const AGENT_TOML = 'components = ["clock"]\n\n[permissions]\nallow = ["mcp__clock__*"]\n'

test('a new component reaches only the agents that ask for it, over one connection', async () => {
  await using fixture = await startComponentNode(['crab', 'second'])
  await fixture.node.home.write('agents/plain.toml', '')
  await using clock = await fixture.component()
  const [peer] = await fixture.peers(({ state }) => state === McpPeerState.CONNECTED)
  assert.deepEqual(peer?.owners, [
    { agent: '(discovery)', name: 'clock' },
    { agent: 'crab', name: 'clock' },
    { agent: 'second', name: 'clock' },
  ])
  const { agents, peers } = await fixture.view()
  assert.equal(peers.length, 1)
  assert.deepEqual(
    agents.map(({ agent, servers }) => [agent, servers.map(({ source, state }) => [source, state])]),
    [
      ['crab', [['run/clock.port', McpPeerState.CONNECTED]]],
      ['plain', []],
      ['second', [['run/clock.port', McpPeerState.CONNECTED]]],
    ],
  )
  assert.equal(countInitializations(clock), 1)
})

test('the tools of a component are offered and called like those of any server', async () => {
  await using fixture = await startComponentNode(['crab'], (_, at) =>
    at === 0 ? { parts: [ECHO] } : { parts: ['done'] },
  )
  await using _clock = await fixture.component()
  await fixture.peers(({ state }) => state === McpPeerState.CONNECTED)
  await fixture.say('what time is it')
  assert.match(fixture.node.server.requests[0]!.text, /"mcp__clock__echo"/)
  assert.match(fixture.node.server.requests[1]!.text, /"content":"tick"/)
})

test('the key beside a port file is sent to the component only', async () => {
  await using fixture = await startComponentNode(['crab'])
  await using clock = await fixture.component()
  await fixture.peers(({ state }) => state === McpPeerState.CONNECTED)
  const [before] = (await fixture.view()).peers
  await writeFile(join(fixture.node.home.paths.run, 'clock.key'), 's3cr3t-value\n')
  await fixture.peers(
    ({ state, fingerprint }) => state === McpPeerState.CONNECTED && fingerprint !== before?.fingerprint,
  )
  assert.equal(clock.server.requests().at(-1)?.auth, 'Bearer s3cr3t-value')
  const output = JSON.stringify([
    await fixture.view(),
    await request(fixture.node.dispatch, 'listMcps', {}, NEVER),
  ])
  assert.doesNotMatch(output + fixture.node.logged.join(), /s3cr3t/)
})

test('a running turn sees one failed call when a component moves, and continues with the new one', async () => {
  let clock: TestComponent | undefined
  const moved = async () => {
    await clock!.move()
    await fixture.peers(
      ({ state, target }) => state === McpPeerState.CONNECTED && target === clock!.server.url,
    )
  }
  await using fixture = await startComponentNode(['crab'], (_, at) => {
    const before = at === 1 ? [clock!.kill()] : at === 2 ? [moved()] : []
    const call = { ...ECHO, call: `c${at}`, args: `{"text":"tick ${at}"}` }
    return { parts: [...before, ...(at < 3 ? [call] : ['done'])] }
  })
  await using component = await fixture.component()
  clock = component
  await fixture.peers(({ state }) => state === McpPeerState.CONNECTED)
  await fixture.say('go')
  const results = fixture.results()
  assert.deepEqual([results[0], results[2]], ['tick 0', 'tick 2'])
  assert.match(results[1] ?? '', /clock/)
  await until('the old connection is gone', async () => (await fixture.view()).peers.length === 1)
})

test('a port file where nothing listens is a failed server; turns do not wait for it, and the rest works', async () => {
  await using fixture = await startComponentNode(['crab'], () => ({ parts: ['done'] }))
  await fixture.announce('clock', `${await freePort()}\n`)
  const [peer] = await fixture.peers(({ state }) => state === McpPeerState.FAILED)
  assert.deepEqual(peer?.owners[0], { agent: '(discovery)', name: 'clock' })
  await fixture.say('hello')
  assert.equal(fixture.node.server.requests.length, 1)
  assert.doesNotMatch(fixture.node.server.requests[0]!.text, /mcp__clock/)
  const [crab] = (await fixture.view()).agents
  assert.deepEqual(
    crab?.servers.map(({ name, state }) => [name, state]),
    [['clock', McpPeerState.FAILED]],
  )
})

test('an invalid port file is a failed server that says why, and is logged once', async () => {
  await using fixture = await startComponentNode(['crab'])
  await fixture.announce('clock', 'soon')
  const [peer] = await fixture.peers(({ state }) => state === McpPeerState.FAILED)
  assert.equal(peer?.error, 'run/clock.port: it does not hold a port number')
  const [crab] = (await fixture.view()).agents
  assert.deepEqual(
    crab?.servers.map(({ name, state, error, source }) => [name, state, error, source]),
    [['clock', McpPeerState.FAILED, peer?.error, 'run/clock.port']],
  )
  await assert.rejects(fixture.act('clock'), {
    kind: 'unavailable',
    message: 'Cannot use the server "clock": run/clock.port: it does not hold a port number',
  })
  const { dispatch } = fixture.node
  await assert.rejects(request(dispatch, 'deleteMcp', { agent: 'crab', name: 'clock' }, NEVER), {
    kind: 'invalid',
  })
  assert.deepEqual(
    fixture.node.logged.filter((line) => line.startsWith('warn')),
    ['warn run/clock.port: it does not hold a port number'],
  )
})

test('a component that restarts at its old port reconnects as soon as it is ready', async () => {
  await using fixture = await startComponentNode(['crab'])
  await using clock = await fixture.component()
  await fixture.peers(({ state }) => state === McpPeerState.CONNECTED)
  await clock.kill()
  const { server } = clock
  await assert.rejects(fixture.act('clock'))
  await server.revive()
  await fixture.announce('clock', `${new URL(server.url).port}\n`)
  await fixture.peers(({ state, starts }) => state === McpPeerState.CONNECTED && starts > 1)
})

test('a component that is killed without closing is a failed server, without a call that finds it', async () => {
  await using fixture = await startComponentNode(['crab'])
  await using clock = await fixture.component()
  await fixture.peers(({ state }) => state === McpPeerState.CONNECTED)
  const countLists = () => clock.server.requests().filter(({ method }) => method === 'tools/list').length
  await until('its list is read for the last time', () => countLists() === 2)
  const events: string[] = []
  const { mcpEvents } = fixture.node.services
  const watching = new AbortController()
  const watched = (async () => {
    for await (const { kind, agent } of mcpEvents.listen(watching.signal))
      if (agent === 'crab') events.push(kind)
  })()
  await clock.kill()
  const [peer] = await fixture.peers(({ state }) => state === McpPeerState.FAILED)
  assert.match(peer!.error, /refused|closed/)
  await until('its owner was told', () => events.includes('failed'))
  assert.ok(!events.includes('disconnected'))
  watching.abort()
  await watched.catch(() => undefined)
})

test('a component whose file is removed is disconnected', async () => {
  await using fixture = await startComponentNode(['crab'])
  await using clock = await fixture.component()
  await fixture.peers(({ state }) => state === McpPeerState.CONNECTED)
  await clock.withdraw()
  await until('no agent has it', async () => (await fixture.view()).peers.length === 0)
  const [crab] = (await fixture.view()).agents
  assert.deepEqual(
    crab?.servers.map(({ name, error }) => [name, error]),
    [['clock', 'run/clock.port: the file does not exist']],
  )
})

test('a server from a port file cannot be changed, and names its file', async () => {
  await using fixture = await startComponentNode(['crab'])
  await using _clock = await fixture.component()
  await fixture.peers(({ state }) => state === McpPeerState.CONNECTED)
  const { dispatch } = fixture.node
  const why = {
    kind: 'invalid',
    message: /it comes from the port file run\/clock\.port, not from agents\/crab\.toml/,
  }
  await assert.rejects(request(dispatch, 'deleteMcp', { agent: 'crab', name: 'clock' }, NEVER), why)
  const config = JSON.stringify({ name: 'clock', command: 'x' })
  await assert.rejects(request(dispatch, 'upsertMcp', { agent: 'crab', config }, NEVER), why)
  await request(dispatch, 'upsertMcp', { agent: 'crab', config, create: true }, NEVER)
  await until('its own comes first', async () => {
    const [crab] = (await fixture.view()).agents
    return /^agents\/crab\.toml:/.test(crab?.servers[0]?.source ?? '') && crab?.servers.length === 1
  })
})

/**
 * Starts a node that follows the components of its home, as a daemon does, with agents that ask for `clock`.
 */
async function startComponentNode(agents: readonly string[], script: Script = []) {
  const records = await recordFolder()
  const node = await startObservedNode(script)
  for (const agent of agents) await node.home.write(`agents/${agent}.toml`, AGENT_TOML)
  const { run } = node.home.paths
  await node.home.write('run/.keep', '')
  await node.services.agentSync.syncAll()
  const log = (level: string, message: string) => void node.logged.push(`${level} ${message}`)
  const following = followComponents({ ...node.services, folder: run, log, lookMs: 500 })
  const view = (): Promise<McpView> => request(node.dispatch, 'mcpView', {}, NEVER)
  return {
    node,
    view,
    component: () => startComponent(run, 'clock', records.path),
    announce: (name: string, text: string) => writeFile(join(run, `${name}.port`), text),
    say: (content: string) =>
      request(node.dispatch, 'send', { agent: 'crab', sender: 'ann', content }, NEVER),
    act: (name: string) => request(node.dispatch, 'mcpAction', { agent: 'crab', name, action: 1 }, NEVER),
    /** Waits until a connection matches, and returns those that match. */
    async peers(isSo: (peer: McpView['peers'][number]) => boolean) {
      await until('a connection is as it should be', async () => (await view()).peers.some(isSo))
      return (await view()).peers.filter(isSo)
    },
    results: () => readToolResults(node),
    async [Symbol.asyncDispose]() {
      following[Symbol.dispose]()
      await node[Symbol.asyncDispose]()
      await records[Symbol.asyncDispose]()
    },
  }
}

/** Returns the tool results in the last request. */
function readToolResults({ server }: ObservedNode): string[] {
  const messages = server.requests.at(-1)!.json['messages'] as { role: string; content: string }[]
  return messages.filter(({ role }) => role === 'tool').map(({ content }) => content)
}

function countInitializations({ server }: TestComponent): number {
  return server.requests().filter(({ method }) => method === 'initialize').length
}
