import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  McpActionKind,
  McpActionResult,
  McpPeerState,
  McpView,
  ServerMessage,
} from '../../../src/core/protocol/crabtalk.generated.ts'
import { type Dispatch, request } from '../../../src/core/protocol/dispatch.ts'
import { ServerCompletions } from '../../../src/tui/controller/server-completions.ts'
import { startMcpNode } from '../../support/mcp/mcp-node.ts'
import { askingEntry, entriesToml } from '../../support/mcp/mcp-servers.ts'

const NEVER = new AbortController().signal

test('ServerCompletions offers the completions of running servers, and starts none', async () => {
  await using node = await startMcpNode([])
  await node.home.write(
    'agents/crab.toml',
    `id = "01JZZZZZZZZZZZZZZZZZZZZZZZ"\n\n${entriesToml(askingEntry())}`,
  )
  const { dispatch } = node
  let now = 0
  const offers = new ServerCompletions({ dispatch, agent: () => 'crab', now: () => now })
  assert.equal(await offers.findPrompts(NEVER), false)
  assert.deepEqual(await offers.findResources('', NEVER), [])
  const state = async () =>
    (await request(dispatch, 'mcpView', { agent: 'crab' }, NEVER)).peers.map((peer) => peer.pid)
  assert.deepEqual(
    (await state()).filter((pid) => pid !== undefined),
    [],
  )

  await request(dispatch, 'mcpAction', { agent: 'crab', name: 'docs', action: McpActionKind.PING }, NEVER)
  now += 20_000
  assert.equal(await offers.findPrompts(NEVER), true)
  assert.equal(await offers.findPrompts(NEVER), false)
  assert.deepEqual(offers.prompts, [
    { name: 'docs:review', args: 'path= [tone=]', summary: 'Review a file' },
    { name: 'docs:hello', args: '', summary: 'Say hello' },
  ])
  assert.deepEqual(await offers.findResources('docs:re', NEVER), [
    { value: 'docs:docs://readme', detail: 'What this is' },
  ])
  assert.deepEqual(
    (await offers.findResources('o', NEVER)).map(({ value }) => value),
    ['docs:docs://readme', 'docs:docs://pixel', 'docs:docs://long'],
  )
})

test('ServerCompletions asks again soon while a server is about to answer', async () => {
  let state: McpPeerState = McpPeerState.CONNECTING
  const dispatch: Dispatch = async function* (message) {
    if (message.msg?.$case === 'mcpView') {
      const value = McpView.fromPartial({ agents: [{ servers: [{ name: 'docs', state }] }] })
      yield ServerMessage.fromPartial({ msg: { $case: 'mcpView', value } })
    }
    if (message.msg?.$case === 'mcpAction') {
      const value = McpActionResult.fromPartial({ prompts: [{ name: 'hello', description: 'Say hello' }] })
      yield ServerMessage.fromPartial({ msg: { $case: 'mcpAction', value } })
    }
  }
  let now = 0
  const offers = new ServerCompletions({ dispatch, agent: () => 'crab', now: () => now })
  assert.equal(await offers.findPrompts(NEVER), false)
  state = McpPeerState.CONNECTED
  now += 600
  assert.equal(await offers.findPrompts(NEVER), true)
  assert.deepEqual(
    offers.prompts.map(({ name }) => name),
    ['docs:hello'],
  )
})
