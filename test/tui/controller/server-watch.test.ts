import assert from 'node:assert/strict'
import { test } from 'node:test'
import { McpActionKind } from '../../../src/core/protocol/crabtalk.generated.ts'
import { request } from '../../../src/core/protocol/dispatch.ts'
import { watchServers } from '../../../src/tui/controller/server-watch.ts'
import { mcpPanel } from '../../../src/tui/slash/mcp-panel.ts'
import { initialState } from '../../../src/tui/state/initial.ts'
import { ChatStore } from '../../../src/tui/state/store.ts'
import { NO_SERVERS } from '../../support/chat-ports.ts'
import { CHAT_OPTIONS } from '../../support/chat-state.ts'
import { startMcpNode } from '../../support/mcp/mcp-node.ts'
import { entriesToml, watchedServer } from '../../support/mcp/mcp-servers.ts'
import { recordFolder } from '../../support/mcp/record-folder.ts'
import { until } from '../../support/until.ts'

const NEVER = new AbortController().signal

test('watchServers() keeps the states of servers and an open panel current, from the first moment on', async () => {
  await using records = await recordFolder()
  await using node = await startMcpNode([])
  const one = watchedServer(records.path, { tools: ['few'] }, { name: 'one' })
  const two = watchedServer(records.path, { tools: ['few'] }, { name: 'two' })
  await node.home.write(
    'agents/crab.toml',
    `id = "01JZZZZZZZZZZZZZZZZZZZZZZZ"\n\n${entriesToml(one.entry, two.entry)}`,
  )
  const act = (name: string, action: McpActionKind) =>
    request(node.dispatch, 'mcpAction', { agent: 'crab', name, action }, NEVER)
  await act('one', McpActionKind.PING)
  using store = new ChatStore(initialState(CHAT_OPTIONS))
  const stop = new AbortController()
  const watching = watchServers(
    { store, ports: { dispatch: node.dispatch, servers: NO_SERVERS }, agent: 'crab' },
    stop.signal,
  )
  await until('the servers are known', () => store.get().servers.size === 2)
  assert.deepEqual(
    [...store.get().servers],
    [
      ['one', 'connected'],
      ['two', 'disconnected'],
    ],
  )

  const view = await request(node.dispatch, 'mcpView', {}, NEVER)
  const open = mcpPanel(view, { agent: 'crab', selected: 1 })
  const selected = open.rows[1]!.value
  store.act({ type: 'set', change: { overlay: open } })
  process.kill(one.starts()[0]!, 'SIGKILL')
  await until('the end of a server is seen', () => store.get().servers.get('one') === 'failed')
  await act('two', McpActionKind.PING)
  await until('another server is seen', () => store.get().servers.get('two') === 'connected')
  await until('the panel shows it', () => panelOf(store).rows.some(({ cells }) => cells[1] === 'connected'))
  assert.equal(panelOf(store).rows[panelOf(store).selected]!.value, selected)
  stop.abort()
  await assert.rejects(watching)
})

test('watchServers() counts the servers that files give to this window, as they are', async () => {
  await using records = await recordFolder()
  await using node = await startMcpNode([])
  const own = watchedServer(records.path, { tools: ['few'] }, { name: 'own' })
  await node.home.write('agents/crab.toml', `id = "01JZZZZZZZZZZZZZZZZZZZZZZZ"\n\n${entriesToml(own.entry)}`)
  const file = '/project/.crabtalk/mcp.toml'
  const scope = 'project'
  const session = [
    { name: 'docs', file, scope, state: 'ready', problem: '' },
    { name: 'wrong', file, scope, state: 'invalid', problem: 'TOKEN is not set' },
    { name: 'off', file, scope, state: 'disabled', problem: '' },
    { name: 'new', file, scope, state: 'untrusted', problem: '' },
    { name: 'own', file, scope, state: 'ready', problem: '' },
  ] as const
  using store = new ChatStore(initialState(CHAT_OPTIONS))
  const stop = new AbortController()
  const servers = { ...NO_SERVERS, list: async () => session }
  const watching = watchServers(
    { store, ports: { dispatch: node.dispatch, servers }, agent: 'crab' },
    stop.signal,
  )
  await until('they are counted', () => store.get().servers.size === 3)
  assert.deepEqual(Object.fromEntries(store.get().servers), {
    own: 'disconnected',
    docs: 'disconnected',
    wrong: 'failed',
  })
  const docs = watchedServer(records.path, { tools: ['few'] }, { name: 'docs' })
  const options = { mcps: [JSON.stringify(docs.entry)] }
  await node.ask('hi', { options })
  await until('the turn has started it', () => store.get().servers.get('docs') === 'connected')
  stop.abort()
  await assert.rejects(watching)
})

function panelOf(store: ChatStore) {
  const { overlay } = store.get()
  assert.ok(overlay?.kind === 'panel')
  return overlay
}
