import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { describe, test } from 'node:test'
import type { JsonObject } from '../../../src/core/base/message.ts'
import { classifyTurn } from '../../../src/core/policy/trust.ts'
import { request } from '../../../src/core/protocol/dispatch.ts'
import { toServedAgents } from '../../../src/mcp/serve/definitions.ts'
import { serveAgents } from '../../../src/mcp/serve/serve-agents.ts'
import { serveTo } from '../../support/mcp/served-host.ts'
import { startTestDispatch, type TestDispatch } from '../../support/test-dispatch.ts'
import { until } from '../../support/until.ts'

const NEVER = new AbortController().signal
const KIND = 'SDK 2.x, 2026-07-28'

describe('serveAgents()', () => {
  test('refuses a message from agents that have called one another four deep, before any model is asked', async () => {
    await using node = await startTestDispatch([])
    const serving = { dispatch: node.dispatch, cwd: node.home.paths.home, env: { CRABTALK_MCP_DEPTH: '4' } }
    await using host = await serveTo(KIND, serving)
    const { text, isError } = await host.call('send_crab', { message: 'Hi' })
    assert.deepEqual([isError, node.server.requests.length], [true, 0])
    assert.match(text, /^Cannot ask crab: agents have called one another 4 deep already/)
  })

  test('uses the depth in a call if it is greater than its own', async () => {
    await using node = await startTestDispatch([])
    const answer = await rawCall(node, 'send_crab', { message: 'Hi' }, { 'crabtalk/depth': 4 })
    assert.match(JSON.stringify(answer), /called one another 4 deep/)
    assert.equal(node.server.requests.length, 0)
  })

  test('offers only the agents that are named', async () => {
    await using node = await startTestDispatch([])
    await request(node.dispatch, 'createAgent', { name: 'reviewer' }, NEVER)
    const serving = { dispatch: node.dispatch, cwd: node.home.paths.home, only: ['reviewer'] }
    await using host = await serveTo(KIND, serving)
    assert.deepEqual(await host.tools(), ['send_reviewer', 'list_agents', 'search_sessions'])
    await assert.rejects(host.call('send_crab', { message: 'Hi' }), /The tool "send_crab" does not exist/)
    const search = await host.call('search_sessions', { query: 'x', agent: 'crab' })
    assert.match(search.text, /"agent" must be one of reviewer/)
    assert.equal(node.server.requests.length, 0)
  })

  test('does not start with a missing agent', async () => {
    await using node = await startTestDispatch([])
    const [input, output] = [new PassThrough(), new PassThrough()]
    const streams = { input, write: (text: string) => void output.write(text) }
    const { dispatch } = node
    const rest = { cwd: node.home.paths.home, env: {}, streams, log() {} }
    await assert.rejects(serveAgents({ dispatch, only: ['crap'], ...rest }, NEVER), {
      kind: 'missing',
      hint: 'did you mean "crab"?',
    })
    assert.equal(output.readableLength, 0)
  })

  test('says what is wrong with the arguments of a message', async () => {
    await using node = await startTestDispatch([])
    await using host = await serveTo(KIND, { dispatch: node.dispatch, cwd: node.home.paths.home })
    const cases: [JsonObject, RegExp][] = [
      [{}, /"message" is missing/],
      [{ message: 5 }, /"message" is not a string/],
      [{ message: 'Hi', conversation: '../x' }, /"conversation" is not a valid name/],
      [
        { message: 'Hi', conversation_id: 'x' },
        /unknown argument "conversation_id"[\s\S]*did you mean "conversation"\?/,
      ],
    ]
    for (const [args, words] of cases) {
      const { text, isError } = await host.call('send_crab', args)
      assert.match(text, words)
      assert.equal(isError, true)
    }
  })

  test('reports agents that are added without a call, and agent files that cannot be read', async () => {
    await using node = await startTestDispatch([])
    let change = () => {}
    const watch = (onChange: () => void): Disposable => {
      change = onChange
      return { [Symbol.dispose]() {} }
    }
    await node.home.write('agents/broken.toml', 'modle = 1\n')
    await using host = await serveTo('SDK 1.x', { dispatch: node.dispatch, cwd: node.home.paths.home, watch })
    await host.tools()
    await request(node.dispatch, 'createAgent', { name: 'reviewer' }, NEVER)
    change()
    await until('it was told', () => host.changes() === 1)
    assert.ok((await host.tools()).includes('send_reviewer'))
    assert.deepEqual(
      host.log.map((line) => line.slice(0, 50)),
      ['left out: agents/broken.toml:1: unknown key "modle"'.slice(0, 50)],
    )
  })

  test('answers a batch in one line, and logs a line that is not a message', async () => {
    await using node = await startTestDispatch([])
    const [input, output] = [new PassThrough(), new PassThrough()]
    const log: string[] = []
    const streams = { input, write: (text: string) => void output.write(text) }
    const rest = { only: [], cwd: node.home.paths.home, env: {}, streams }
    const served = serveAgents(
      { dispatch: node.dispatch, ...rest, log: (line) => void log.push(line) },
      NEVER,
    )
    const send = (message: unknown) => input.write(`${JSON.stringify(message)}\n`)
    const clientInfo = { name: 'old', version: '1' }
    const params = { protocolVersion: '2025-03-26', capabilities: {}, clientInfo }
    send({ jsonrpc: '2.0', id: 1, method: 'initialize', params })
    send([
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      { jsonrpc: '2.0', id: 2, method: 'tools/list' },
      { jsonrpc: '2.0', id: 3, method: 'ping' },
    ])
    send([
      { jsonrpc: '2.0', id: 4, method: 'ping' },
      { jsonrpc: '2.0', id: 5, method: 'tools/list' },
      { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 5 } },
    ])
    input.write('{"jsonrpc":"2.0","id":7}\n')
    const lines = output[Symbol.asyncIterator]()
    await lines.next()
    const readIds = async () => {
      const answers = JSON.parse(String((await lines.next()).value)) as { id: number }[]
      return answers.map(({ id }) => id).toSorted()
    }
    assert.deepEqual([await readIds(), await readIds()].toSorted(), [[2, 3], [4]])
    assert.deepEqual(log, ['ignored a line of 24 characters that is not a JSON-RPC message'])
    input.end()
    await served
  })

  test('gives a conversation its own sender, whose turns count as those of local programs', async () => {
    await using node = await startTestDispatch([{ parts: ['Hi.'] }])
    await using host = await serveTo(KIND, { dispatch: node.dispatch, cwd: node.home.paths.home })
    await host.call('send_crab', { message: 'Hi', conversation: 'user' })
    const { conversations } = await request(node.dispatch, 'listConversations', {}, NEVER)
    assert.deepEqual(
      conversations.map(({ sender }) => sender),
      ['sh:mcp:user'],
    )
    assert.equal(classifyTurn('local', 'sh:mcp:user'), classifyTurn('process', 'sh:mcp:user'))
  })

  test('returns a failed turn as an error with its hint', async () => {
    await using node = await startTestDispatch([{ status: 401, body: { error: { message: 'bad key' } } }])
    await using host = await serveTo(KIND, { dispatch: node.dispatch, cwd: node.home.paths.home })
    const { text, structured, isError } = await host.call('send_crab', { message: 'Hi' })
    assert.equal(isError, true)
    assert.equal((structured['error'] as JsonObject)['kind'], 'credentials')
    assert.match(text, /bad key|credentials|key/)
  })

  test('search_sessions finds messages, with the text around them', async () => {
    await using node = await startTestDispatch(() => ({ parts: ['In the fridge.'] }))
    await node.ask('Where is the oat milk?')
    await node.ask('And the bread?', { sender: 'bob' })
    await using host = await serveTo(KIND, { dispatch: node.dispatch, cwd: node.home.paths.home })
    const { text, structured } = await host.call('search_sessions', { query: 'oat milk', limit: 3 })
    assert.match(
      text,
      /^\[\S+\] \d{4}-\d\d-\d\d crab\n> user: Where is the oat milk\?\n {2}assistant: In the fridge\.$/,
    )
    const [hit, ...more] = structured['hits'] as JsonObject[]
    assert.deepEqual([hit?.['seq'], hit?.['messages'], more], [1, 2, []])
    assert.match(String(hit?.['created_at']), /^\d{4}-\d\d-\d\dT/)
    const [replies] = (hit?.['window'] ?? []) as JsonObject[]
    assert.deepEqual(
      [replies?.['text'], replies?.['matches']],
      [
        'Where is the oat milk?',
        [
          [13, 16],
          [17, 21],
        ],
      ],
    )
    const nothing = await host.call('search_sessions', { query: 'quinoa' })
    assert.deepEqual([nothing.text, nothing.isError ?? false], ['No matches for quinoa.', false])
  })

  test('sends no message for an answer that nothing waits for', async () => {
    await using node = await startTestDispatch([{ parts: ['Hi'] }])
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    }
    const params = { name: 'send_crab', arguments: { message: 'Hi' }, requestState: 'gone', _meta }
    const { replies } = await rawTalk(node, [{ id: 1, method: 'tools/call', params }])
    const { content, isError } = replies[0]!['result'] as { content: { text: string }[]; isError: boolean }
    assert.match(content[0]!.text, /^Cannot continue: nothing waits for this answer any more/)
    assert.deepEqual([isError, node.server.requests.length], [true, 0])
  })

  for (const revision of ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']) {
    test(`speaks ${revision}, and survives lines that are not messages`, async () => {
      await using node = await startTestDispatch([])
      const { replies, log } = await rawTalk(node, [
        'no JSON',
        { id: 1, method: 'initialize', params: handshake(revision) },
        { method: 'notifications/initialized' },
        '{"jsonrpc":"2.0"}',
        { id: 2, method: 'tools/list' },
      ])
      assert.equal((replies[0]!['result'] as JsonObject)['protocolVersion'], revision)
      const { tools } = replies[1]!['result'] as { tools: { name: string }[] }
      assert.deepEqual(
        tools.map(({ name }) => name),
        ['send_crab', 'list_agents', 'search_sessions'],
      )
      assert.equal(log.length, 2)
    })
  }
})

test('toServedAgents() returns names that every host accepts, all different', () => {
  const names = ['plain', 'Ärger', 'Örger', 'x'.repeat(64), `${'x'.repeat(63)}y`, 'a_b-c']
  const agents = names.map((name) => ({ name, description: '', model: '' }) as never)
  const tools = toServedAgents(agents).map(({ tool }) => tool)
  assert.equal(new Set(tools).size, names.length)
  assert.ok(tools.includes('send_plain') && tools.includes('send_a_b-c'), tools.join())
  for (const tool of tools) assert.match(tool, /^send_[A-Za-z0-9_-]{1,43}$/)
})

async function rawCall(
  node: TestDispatch,
  name: string,
  args: JsonObject,
  meta: JsonObject,
): Promise<unknown> {
  const { replies } = await rawTalk(node, [
    { id: 1, method: 'initialize', params: handshake('2025-06-18') },
    { method: 'notifications/initialized' },
    { id: 2, method: 'tools/call', params: { name, arguments: args, _meta: meta } },
  ])
  return replies.at(-1)
}

/** Sends these lines, waits for an answer to each request, and disconnects. */
async function rawTalk(
  { dispatch, home }: TestDispatch,
  lines: readonly (string | JsonObject)[],
): Promise<{ replies: JsonObject[]; log: string[] }> {
  const input = new PassThrough()
  const replies: JsonObject[] = []
  const log: string[] = []
  const requests = lines.filter((line) => typeof line === 'object' && 'id' in line).length
  const write = (text: string) => {
    replies.push(JSON.parse(text))
    if (replies.length === requests) input.end()
    return undefined
  }
  const options = { dispatch, only: [], cwd: home.paths.home, env: {} }
  const serving = serveAgents(
    { ...options, streams: { input, write }, log: (line) => void log.push(line) },
    NEVER,
  )
  for (const line of lines) {
    input.write(`${typeof line === 'string' ? line : JSON.stringify({ jsonrpc: '2.0', ...line })}\n`)
  }
  await serving
  return { replies, log }
}

function handshake(protocolVersion: string): JsonObject {
  return { protocolVersion, capabilities: {}, clientInfo: { name: 'raw', version: '1' } }
}
