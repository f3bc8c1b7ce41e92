import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { McpPeerState, type McpView } from '../../../src/core/protocol/crabtalk.generated.ts'
import { request } from '../../../src/core/protocol/dispatch.ts'
import { followComponents } from '../../../src/daemon/components/follow-components.ts'
import { freePort, startComponent, type TestComponent } from '../../support/component.ts'
import { type KeptNode, startKeptNode } from '../../support/kept-node.ts'
import { recordFolder } from '../../support/mcp/record-folder.ts'
import type { Script } from '../../support/model-server.ts'
import { until } from '../../support/until.ts'

const NEVER = new AbortController().signal
const ECHO = { call: 'c', name: 'mcp__clock__echo', args: '{"text":"tick"}' }
const ASKING = 'components = ["clock"]\n\n[permissions]\nallow = ["mcp__clock__*"]\n'

test('a component that appears reaches the agents that ask for it, and no other, over one connection', async () => {
  await using stage = await openStage(['crab', 'second'])
  await stage.node.home.write('agents/plain.toml', '')
  await using clock = await stage.component()
  const [peer] = await stage.peers(({ state }) => state === McpPeerState.CONNECTED)
  assert.deepEqual(peer?.owners, [
    { agent: '(discovery)', name: 'clock' },
    { agent: 'crab', name: 'clock' },
    { agent: 'second', name: 'clock' },
  ])
  const { agents, peers } = await stage.view()
  assert.equal(peers.length, 1)
  assert.deepEqual(
    agents.map(({ agent, servers }) => [agent, servers.map(({ source, state }) => [source, state])]),
    [
      ['crab', [['run/clock.port', McpPeerState.CONNECTED]]],
      ['plain', []],
      ['second', [['run/clock.port', McpPeerState.CONNECTED]]],
    ],
  )
  assert.equal(initializations(clock), 1)
})

test('its tools are offered and called like those of any server', async () => {
  await using stage = await openStage(['crab'], (_, at) =>
    at === 0 ? { parts: [ECHO] } : { parts: ['done'] },
  )
  await using _clock = await stage.component()
  await stage.peers(({ state }) => state === McpPeerState.CONNECTED)
  await stage.say('what time is it')
  assert.match(stage.node.server.requests[0]!.text, /"mcp__clock__echo"/)
  assert.match(stage.node.server.requests[1]!.text, /"content":"tick"/)
})

test('a key that comes beside the port file is shown to the component, and to nobody else', async () => {
  await using stage = await openStage(['crab'])
  await using clock = await stage.component()
  await stage.peers(({ state }) => state === McpPeerState.CONNECTED)
  const [before] = (await stage.view()).peers
  await writeFile(join(stage.node.home.paths.run, 'clock.key'), 's3cr3t-value\n')
  await stage.peers(
    ({ state, fingerprint }) => state === McpPeerState.CONNECTED && fingerprint !== before?.fingerprint,
  )
  assert.equal(clock.server.requests().at(-1)?.auth, 'Bearer s3cr3t-value')
  const shown = JSON.stringify([
    await stage.view(),
    await request(stage.node.dispatch, 'listMcps', {}, NEVER),
  ])
  assert.doesNotMatch(shown + stage.node.logged.join(), /s3cr3t/)
})

test('a turn that is under way notices one failed call when a component moves, and goes on with it', async () => {
  let clock: TestComponent | undefined
  const moved = async () => {
    await clock!.move()
    await stage.peers(({ state, target }) => state === McpPeerState.CONNECTED && target === clock!.server.url)
  }
  await using stage = await openStage(['crab'], (_, at) => {
    const before = at === 1 ? [clock!.kill()] : at === 2 ? [moved()] : []
    const call = { ...ECHO, call: `c${at}`, args: `{"text":"tick ${at}"}` }
    return { parts: [...before, ...(at < 3 ? [call] : ['done'])] }
  })
  await using made = await stage.component()
  clock = made
  await stage.peers(({ state }) => state === McpPeerState.CONNECTED)
  await stage.say('go')
  const results = stage.results()
  assert.deepEqual([results[0], results[2]], ['tick 0', 'tick 2'])
  assert.match(results[1] ?? '', /clock/)
  await until('the old connection is gone', async () => (await stage.view()).peers.length === 1)
})

test('a file where nothing listens is a failed server; turns do not wait for it, and all else goes on', async () => {
  await using stage = await openStage(['crab'], () => ({ parts: ['done'] }))
  await stage.announce('clock', `${await freePort()}\n`)
  const [peer] = await stage.peers(({ state }) => state === McpPeerState.FAILED)
  assert.deepEqual(peer?.owners[0], { agent: '(discovery)', name: 'clock' })
  await stage.say('hello')
  assert.equal(stage.node.server.requests.length, 1)
  assert.doesNotMatch(stage.node.server.requests[0]!.text, /mcp__clock/)
  const [crab] = (await stage.view()).agents
  assert.deepEqual(
    crab?.servers.map(({ name, state }) => [name, state]),
    [['clock', McpPeerState.FAILED]],
  )
})

test('a file that is no port file is a failed server, which says why, and is told the log once', async () => {
  await using stage = await openStage(['crab'])
  await stage.announce('clock', 'soon')
  const [peer] = await stage.peers(({ state }) => state === McpPeerState.FAILED)
  assert.equal(peer?.error, 'run/clock.port: it does not hold a port number')
  const [crab] = (await stage.view()).agents
  assert.deepEqual(
    crab?.servers.map(({ name, state, error, source }) => [name, state, error, source]),
    [['clock', McpPeerState.FAILED, peer?.error, 'run/clock.port']],
  )
  await assert.rejects(stage.act('clock'), {
    kind: 'unavailable',
    message: 'Cannot use the server "clock": run/clock.port: it does not hold a port number',
  })
  const { dispatch } = stage.node
  await assert.rejects(request(dispatch, 'deleteMcp', { agent: 'crab', name: 'clock' }, NEVER), {
    kind: 'invalid',
  })
  assert.deepEqual(
    stage.node.logged.filter((line) => line.startsWith('warn')),
    ['warn run/clock.port: it does not hold a port number'],
  )
})

test('one that starts again at its old port is connected as soon as it says so', async () => {
  await using stage = await openStage(['crab'])
  await using clock = await stage.component()
  await stage.peers(({ state }) => state === McpPeerState.CONNECTED)
  await clock.kill()
  const { server } = clock
  await assert.rejects(stage.act('clock'))
  await server.revive()
  await stage.announce('clock', `${new URL(server.url).port}\n`)
  await stage.peers(({ state, starts }) => state === McpPeerState.CONNECTED && starts > 1)
})

test('a component whose file is removed is let go of', async () => {
  await using stage = await openStage(['crab'])
  await using clock = await stage.component()
  await stage.peers(({ state }) => state === McpPeerState.CONNECTED)
  await clock.withdraw()
  await until('nobody has it', async () => (await stage.view()).peers.length === 0)
  const [crab] = (await stage.view()).agents
  assert.deepEqual(
    crab?.servers.map(({ name, error }) => [name, error]),
    [['clock', 'run/clock.port: the file does not exist']],
  )
})

test('what comes from a port file cannot be changed, and says where it comes from', async () => {
  await using stage = await openStage(['crab'])
  await using _clock = await stage.component()
  await stage.peers(({ state }) => state === McpPeerState.CONNECTED)
  const { dispatch } = stage.node
  const why = {
    kind: 'invalid',
    message: /it comes from the port file run\/clock\.port, not from agents\/crab\.toml/,
  }
  await assert.rejects(request(dispatch, 'deleteMcp', { agent: 'crab', name: 'clock' }, NEVER), why)
  const config = JSON.stringify({ name: 'clock', command: 'x' })
  await assert.rejects(request(dispatch, 'upsertMcp', { agent: 'crab', config }, NEVER), why)
  await request(dispatch, 'upsertMcp', { agent: 'crab', config, create: true }, NEVER)
  await until('its own comes first', async () => {
    const [crab] = (await stage.view()).agents
    return /^agents\/crab\.toml:/.test(crab?.servers[0]?.source ?? '') && crab?.servers.length === 1
  })
})

/** A node that follows the components of its home, as a daemon does, with agents that ask for `clock`. */
async function openStage(agents: readonly string[], script: Script = []) {
  const records = await recordFolder()
  const node = await startKeptNode(script)
  for (const agent of agents) await node.home.write(`agents/${agent}.toml`, ASKING)
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
    /** The connections, once one of them is so. */
    async peers(isSo: (peer: McpView['peers'][number]) => boolean) {
      await until('a connection is as it should be', async () => (await view()).peers.some(isSo))
      return (await view()).peers.filter(isSo)
    },
    results: () => resultsOf(node),
    async [Symbol.asyncDispose]() {
      following[Symbol.dispose]()
      await node[Symbol.asyncDispose]()
      await records[Symbol.asyncDispose]()
    },
  }
}

/** What tools answered, as the last request has it. */
function resultsOf({ server }: KeptNode): string[] {
  const messages = server.requests.at(-1)!.json['messages'] as { role: string; content: string }[]
  return messages.filter(({ role }) => role === 'tool').map(({ content }) => content)
}

function initializations({ server }: TestComponent): number {
  return server.requests().filter(({ method }) => method === 'initialize').length
}
