import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Arrival, goodAnswer, scriptedServer, sendJson } from '../../support/mcp/http/scripted-server.ts'
import { agentWith, mcpNode, offer, run } from '../mcp-node.ts'

describe('arguments that a tool wants as headers', () => {
  test('are sent with a call, and only there', async () => {
    await using server = await serverWith(() => [toolWith({ type: 'string', 'x-mcp-header': 'Text' })])
    await using node = await mcpNode()
    const agent = agentWith([{ name: 'far', url: server.url }])
    await offer(node, agent)
    const { output } = (await run(node, agent, { name: 'mcp__far__echo', args: { text: 'grüß dich' } }))!
    assert.equal(output, 'grüß dich')
    const encoded = `=?base64?${Buffer.from('grüß dich').toString('base64')}?=`
    assert.deepEqual(readParamHeaders(server.of('tools/call')), [encoded])
    assert.deepEqual(readParamHeaders(server.of('tools/list')), [undefined])
  })

  test('are read again, once, when a server reports them missing in a call', async () => {
    let inputSchema: object = { type: 'string' }
    await using server = await serverWith(() => [toolWith(inputSchema)])
    await using node = await mcpNode()
    const agent = agentWith([{ name: 'far', url: server.url }])
    await offer(node, agent)
    inputSchema = { type: 'string', 'x-mcp-header': 'Text' }
    const { output, isError } = (await run(node, agent, { name: 'mcp__far__echo', args: { text: 'hi' } }))!
    assert.deepEqual([output, isError], ['hi', false])
    assert.deepEqual(readParamHeaders(server.of('tools/call')), [undefined, 'hi'])
    assert.equal(server.of('tools/list').length, 2)
  })

  test('that the server still reports missing make the call fail', async () => {
    await using server = await serverWith(() => [toolWith({ type: 'string' })], true)
    await using node = await mcpNode()
    const agent = agentWith([{ name: 'far', url: server.url }])
    await offer(node, agent)
    const { output, isError } = (await run(node, agent, { name: 'mcp__far__echo', args: { text: 'hi' } }))!
    assert.equal(isError, true)
    assert.match(output, /far refused the call: .*header mismatch/i)
    assert.equal(server.of('tools/call').length, 2)
  })

  test('are not supported for numbers: such a tool is dropped and reported', async () => {
    await using server = await serverWith(() => [
      toolWith({ type: 'string' }),
      { ...toolWith({ type: 'number', 'x-mcp-header': 'Text' }), name: 'odd' },
    ])
    await using node = await mcpNode()
    const { names, notices } = await offer(node, agentWith([{ name: 'far', url: server.url }]))
    assert.deepEqual(names, ['mcp__far__echo'])
    assert.match(notices.join('\n'), /odd.*it asks for a header/)
  })
})

/**
 * Starts an MCP 2026-07-28 server that refuses a call without the header its tool wants; a stubborn one
 * refuses all calls.
 */
async function serverWith(tools: () => Tool[], isStubborn = false) {
  return await scriptedServer({
    modern: true,
    play(arrival, response) {
      const { method, id, headers } = arrival
      const wants = JSON.stringify(tools()).includes('x-mcp-header')
      const refuses = isStubborn || (wants && headers['mcp-param-text'] === undefined)
      const error = { code: -32_020, message: 'Header mismatch' }
      if (method === 'tools/call' && refuses) sendJson(response, { jsonrpc: '2.0', id, error }, 400)
      else if (method === 'tools/list') sendJson(response, toListResult(arrival, tools()))
      else return false
      return true
    },
  })
}

function toListResult(arrival: Arrival, tools: readonly Tool[]): object {
  const answer = goodAnswer(arrival, true) as { result: object }
  return { ...answer, result: { ...answer.result, tools } }
}

type Tool = ReturnType<typeof toolWith>

function toolWith(text: object) {
  return { name: 'echo', description: '', inputSchema: { type: 'object', properties: { text } } }
}

function readParamHeaders(arrivals: readonly Arrival[]): unknown[] {
  return arrivals.map(({ headers }) => headers['mcp-param-text'])
}
