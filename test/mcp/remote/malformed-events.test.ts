import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  goodAnswer,
  type Play,
  type ScriptedServer,
  scriptedServer,
  sendEvent,
  startStream,
} from '../../support/mcp/http/scripted-server.ts'
import { agentWith, type McpNode, mcpNode, NEVER } from '../mcp-node.ts'

describe('a server over HTTP with a stream of events', () => {
  for (const [what, toEvent, message] of [
    ['JSON that is cut', (id) => JSON.stringify({ jsonrpc: '2.0', id, result: {} }).slice(0, -9), /JSON/],
    [
      'a result that is not an object',
      (id) => ({ jsonrpc: '2.0', id, result: 'hi' }),
      /is not an MCP message/,
    ],
    ['an error without a code', (id) => ({ jsonrpc: '2.0', id, error: 'no' }), /is not an MCP message/],
    ['a result without a version', (id) => ({ id, result: {} }), /is not an MCP message/],
    ['a batch', (id) => [{ jsonrpc: '2.0', id, result: {} }], /is not an MCP message/],
  ] satisfies [string, (id: unknown) => unknown, RegExp][]) {
    test(`that sends ${what} as an event, and keeps the stream open, fails the call immediately`, async () => {
      await using server = await scriptedServer({
        play: only('tools/call', ({ id, before }, response) => {
          if (before > 0) return false
          startStream(response)
          sendEvent(response, { jsonrpc: '2.0', method: 'notifications/message', params: 'unusual' })
          const event = toEvent(id)
          if (typeof event === 'string') response.write(`data: ${event}\n\n`)
          else sendEvent(response, event)
          return true
        }),
      })
      await using node = await mcpNode()
      await assert.rejects(callEcho(node, server), { kind: 'failed', message })
      assert.equal(await callEcho(node, server), 'hi')
    })
  }

  test('that sends an unusual notification before its answer is understood', async () => {
    await using server = await scriptedServer({
      play: only('tools/call', ({ method, id, params }, response) => {
        startStream(response)
        sendEvent(response, { jsonrpc: '2.0', method: 'notifications/message', params: 'unusual' })
        sendEvent(response, goodAnswer({ method, id, params }))
        response.end()
        return true
      }),
    })
    await using node = await mcpNode()
    assert.equal(await callEcho(node, server), 'hi')
  })
})

/** Returns the server's answer to `hi`, called as a turn does. */
async function callEcho(node: McpNode, { url }: ScriptedServer): Promise<string> {
  const agent = {
    ...agentWith([]),
    id: '01J00000000000000000FAR000',
    name: 'far',
    mcps: [{ name: 'far', url }],
  }
  const at = { agent, name: 'far', tool: 'echo', args: { text: 'hi' }, spillDir: node.folder }
  return (await node.servers.call(at, NEVER)).output
}

function only(method: string, play: Play): Play {
  return (arrival, response) => (arrival.method === method ? play(arrival, response) : false)
}
