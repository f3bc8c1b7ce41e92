import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Attachment, Message } from '../../../src/core/base/message.ts'
import { callEndpoint } from '../../../src/core/provider/source.ts'
import type { ModelEvent, ModelRequest } from '../../../src/core/provider/types.ts'
import { collect, collectFailure, joinText, modelRequest, READ_TOOL } from '../../support/model-calls.ts'
import { type ModelServer, startModelServer } from '../../support/model-server.ts'
import type { Part } from '../../support/model-wire.ts'
import { WIRES, wireEndpoint } from '../../support/wires.ts'

const NEVER = new AbortController().signal
const IMAGE: Attachment = { media_type: 'image/png', data: 'aW1hZ2VvZmFjcmFi', name: 'crab.png' }
const ASK: Message = { role: 'user', content: 'hi' }

for (const wire of WIRES) {
  describe(`callEndpoint() over ${wire.kind}`, () => {
    test('sends a user’s image, and the text with it', async () => {
      await using server = await startModelServer([{ parts: ['a crab'] }])
      const messages: Message[] = [{ role: 'user', content: 'What is it?', attachments: [IMAGE] }]
      assert.equal(joinText(await collect(call(server, { messages }))), 'a crab')
      const { text } = server.requests[0]!
      assert.ok(text.includes(IMAGE.data) && text.includes('What is it?'), text)
    })

    test('sends the image a tool returned', async () => {
      await using server = await startModelServer([{ parts: ['a crab'] }])
      const messages: Message[] = [
        ASK,
        {
          role: 'assistant',
          content: '',
          tool_calls: [{ id: 'a', name: 'read', arguments: '{"path":"p"}' }],
        },
        { role: 'tool', content: 'crab.png', tool_call_id: 'a', name: 'read', attachments: [IMAGE] },
      ]
      const model = wire.kind === 'bedrock' ? 'us.anthropic.claude-x' : 'scripted'
      await collect(call(server, { model, messages, tools: [READ_TOOL] }))
      assert.ok(server.requests[0]!.text.includes(IMAGE.data), server.requests[0]!.text)
    })

    test('sends audio of a tool or a user where it is accepted, and a line for it elsewhere', async () => {
      await using server = await startModelServer([{ parts: ['a splash'] }])
      const sound: Attachment = { media_type: 'audio/ogg', data: 'c291bmRvZmFjcmFi' }
      const messages: Message[] = [
        { ...ASK, attachments: [sound] },
        {
          role: 'assistant',
          content: '',
          tool_calls: [{ id: 'a', name: 'read', arguments: '{"path":"p"}' }],
        },
        { role: 'tool', content: 'crab.ogg', tool_call_id: 'a', name: 'read', attachments: [sound] },
      ]
      const model = wire.kind === 'bedrock' ? 'us.anthropic.claude-x' : 'scripted'
      await collect(call(server, { model, messages, tools: [READ_TOOL] }))
      const { text } = server.requests[0]!
      const isHeard = wire.kind === 'google'
      assert.equal(text.split(sound.data).length - 1, isHeard ? 2 : 0)
      assert.equal(text.split('[audio/ogg left out: this model takes no sound]').length - 1, isHeard ? 0 : 2)
    })

    test('sends tool calls and results back in the order of the calls', async () => {
      const calls: Part[] = [
        { call: 'first', name: 'read', args: '{"path":"one"}' },
        { call: 'second', name: 'now', args: '' },
      ]
      await using server = await startModelServer([{ parts: calls }, { parts: ['done'] }])
      const answer = toMessage(await collect(call(server, { tools: [READ_TOOL] })))
      const results = ['1 o’clock', '2 o’clock'].map((content, at): Message => {
        const { id, name } = answer.tool_calls![at]!
        return { role: 'tool', content, tool_call_id: id, name, ...(at === 1 && { is_error: true }) }
      })
      await collect(call(server, { messages: [ASK, answer, ...results], tools: [READ_TOOL] }))
      const { text } = server.requests[1]!
      for (const words of ['first', 'second', '1 o’clock', '2 o’clock'])
        assert.ok(text.includes(words), words)
      assert.ok(text.indexOf('1 o’clock') < text.indexOf('2 o’clock'))
      assert.match(text, /"(input|args|arguments)":("\{\}"|\{\})/)
    })

    test('yields thinking, and sends back what must be within the turn', async () => {
      const parts: Part[] = [
        { thinking: 'Let me see.', signature: 'c2lnbmVk' },
        { call: 'a', name: 'read', args: '{"path":"one"}', signature: 'Y2FsbGVk' },
      ]
      await using server = await startModelServer([{ parts }, { parts: ['yes'] }])
      const model = wire.thinker ?? 'scripted'
      const events = await collect(call(server, { model, tools: [READ_TOOL], thinking: true }))
      const answer = toMessage(events)
      assert.equal(answer.reasoning?.[0]?.text, 'Let me see.')
      const result: Message = {
        role: 'tool',
        content: 'one',
        tool_call_id: answer.tool_calls![0]!.id,
        name: 'read',
      }
      await collect(
        call(server, { model, messages: [ASK, answer, result], tools: [READ_TOOL], thinking: true }),
      )
      const [asked, second] = server.requests
      assert.match(asked!.text, wire.asksToThink)
      for (const back of wire.returns) assert.ok(second!.text.includes(back), `${back} in ${second!.text}`)
    })

    test('sends the reasoning effort, without being asked to show thoughts', async () => {
      await using server = await startModelServer([{ parts: ['yes'] }])
      await collect(call(server, { model: wire.thinker ?? 'scripted', effort: 'low' }))
      assert.match(server.requests[0]!.text, wire.sendsEffort)
    })

    test('continues thinking in a steered turn', async () => {
      const parts: Part[] = [
        { thinking: 'Let me see.', signature: 'c2lnbmVk' },
        { call: 'a', name: 'read', args: '{"path":"one"}', signature: 'Y2FsbGVk' },
      ]
      await using server = await startModelServer([{ parts }, { parts: ['yes'] }, { parts: ['yes'] }])
      const model = wire.thinker ?? 'scripted'
      const answer = toMessage(await collect(call(server, { model, tools: [READ_TOOL], thinking: true })))
      const id = answer.tool_calls![0]!.id
      const step: Message[] = [ASK, answer, { role: 'tool', content: 'one', tool_call_id: id, name: 'read' }]
      const steers = ['Faster!', 'And louder!'].map((content): Message => ({ role: 'user', content }))
      for (const messages of [step, [...step, ...steers]])
        await collect(call(server, { model, messages, tools: [READ_TOOL], thinking: true }))
      const [plain, steered] = server.requests.slice(1)
      for (const back of wire.returns) assert.ok(steered!.text.includes(back), `${back} in ${steered!.text}`)
      assert.equal(countParts(steered!.text, wire.returns[0]!), countParts(plain!.text, wire.returns[0]!))
      assert.ok(steered!.text.includes('And louder!'))
    })

    test('does not send back another provider’s thinking', async () => {
      await using server = await startModelServer([{ parts: ['yes'] }])
      const messages: Message[] = [
        ASK,
        {
          role: 'assistant',
          content: '',
          reasoning: [{ text: 'secret thought', meta: { elsewhere: { signature: 'c2ln' } } }],
          tool_calls: [
            { id: 'a', name: 'read', arguments: '{}', meta: { elsewhere: { signature: 'c2ln' } } },
          ],
        },
        { role: 'tool', content: 'one', tool_call_id: 'a', name: 'read' },
      ]
      await collect(call(server, { messages, tools: [READ_TOOL] }))
      assert.doesNotMatch(server.requests[0]!.text, /secret thought|c2ln/)
    })

    test('sends no empty message', async () => {
      await using server = await startModelServer([{ parts: ['yes'] }])
      const meta = { elsewhere: { signature: 'c2ln' } }
      const messages: Message[] = [
        ASK,
        { role: 'assistant', content: '', reasoning: [{ text: 'Hm.', meta }], stop_reason: 'cancelled' },
        { role: 'user', content: 'Go on' },
      ]
      await collect(call(server, { messages }))
      const { text } = server.requests[0]!
      assert.doesNotMatch(text, /assistant|"model","parts"|"role":"model"/)
      assert.match(text, /Go on/)
    })

    test('counts cache reads and thinking tokens', async () => {
      const usage = { input: 100, output: 50, cacheRead: 60, reasoning: 20 }
      await using server = await startModelServer([{ parts: ['yes'], usage }])
      const finish = (await collect(call(server))).at(-1)
      const reasoning = wire.countsThinking === false ? 0 : 20
      assert.deepEqual(finish?.type === 'finish' && finish.usage, {
        ...{ input: 100, output: 50, cache_read: 60, cache_write: 0, reasoning },
      })
    })

    test('requests an answer with a schema', async () => {
      const schema = { type: 'object', properties: { wingspan: { type: 'number' } }, required: ['wingspan'] }
      const parts: Part[] = wire.answersByTool
        ? [{ call: 'j', name: 'json', args: '{"wingspan":2}' }]
        : ['{"wingspan":', '2}']
      await using server = await startModelServer([{ parts }])
      const events = await collect(call(server, { schema }))
      assert.equal(joinText(events), '{"wingspan":2}')
      assert.equal(events.at(-1)?.type === 'finish' && events.at(-1)?.type, 'finish')
      assert.ok(server.requests[0]!.text.includes('wingspan'))
    })

    test('sends the limit, the tool choice and the system prompt', async () => {
      await using server = await startModelServer([{ parts: ['yes'] }])
      await collect(
        call(server, {
          system: 'Be brief.',
          maxOutputTokens: 77,
          tools: [READ_TOOL],
          toolChoice: { tool: 'read' },
        }),
      )
      const { text } = server.requests[0]!
      assert.match(text, /:77[,}]/)
      assert.match(text, /Be brief\./)
      assert.match(text, /"(tool_choice|toolChoice|allowedFunctionNames)":[^,]*(\{|\[|,)[^}]*"read"/)
    })

    test('identifies the client, and sends the key where the wire requires it', async () => {
      await using server = await startModelServer([{ parts: ['yes'] }])
      await collect(call(server))
      const { headers } = server.requests[0]!
      assert.match(headers['user-agent'] ?? '', /^crabtalk\/\d/)
      assert.match(String(headers[wire.keyHeader]), wire.key)
      const others = ['authorization', 'api-key', 'x-api-key', 'x-goog-api-key'].filter(
        (name) => name !== wire.keyHeader,
      )
      assert.deepEqual(
        others.filter((name) => name in headers),
        [],
      )
    })

    for (const [what, status, body] of [
      ['an unknown model', 404, { error: { message: 'no such model' }, message: 'no such model' }],
      ['a forbidden model', 403, { error: { message: 'not for you' }, message: 'not for you' }],
      ['a long prompt', 400, { error: { message: 'Input is too long' }, message: 'Input is too long' }],
    ] as const) {
      test(`says what to do about ${what}`, async () => {
        await using server = await startModelServer([{ status, body }])
        const { error } = await collectFailure(call(server))
        assert.equal(error.kind, { 404: 'config', 403: 'credentials', 400: 'invalid' }[status])
        assert.ok(error.message.endsWith(`${body.message} (${status})`), error.message)
        assert.ok(error.hint)
      })
    }
  })

  function call(server: ModelServer, request: Partial<ModelRequest> = {}) {
    return callEndpoint(() => wireEndpoint(wire, server), modelRequest(request), NEVER)
  }
}

function countParts(text: string, part: string): number {
  return text.split(part).length - 1
}

/** Returns an answer as the runtime stores it. */
function toMessage(events: readonly ModelEvent[]): Message {
  const message = {
    role: 'assistant' as const,
    content: joinText(events),
    reasoning: [],
    tool_calls: [],
  } as Message
  let text = ''
  for (const event of events) {
    if (event.type === 'thinking') text += event.delta
    if (event.type === 'thinking-end') {
      message.reasoning!.push({ text, ...(event.meta && { meta: event.meta }) })
      text = ''
    }
    if (event.type === 'tool-call') message.tool_calls!.push(event.call)
  }
  return JSON.parse(JSON.stringify(message)) // as it is on disk
}
