import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  ClientMessage,
  type DeepPartial,
  OnAsk,
  type ServerMessage,
  type StreamMsg,
} from '../../src/core/protocol/crabtalk.generated.ts'
import { request, requestMany, streamTurn } from '../../src/core/protocol/dispatch.ts'
import type { Operation } from '../../src/core/protocol/operations.ts'
import { CALLERS } from '../../src/daemon/handlers/callers.ts'
import {
  CONNECTION_KINDS,
  type ConnectedNode,
  type ConnectionKind,
  startConnectedNode,
} from '../support/connection-kinds.ts'
import type { Script } from '../support/model-server.ts'
import type { WireEvent } from '../support/test-dispatch.ts'
import { until } from '../support/until.ts'

const NEVER = new AbortController().signal
const OPERATIONS = Object.keys(CALLERS) as Operation[]
const PAIR = { agent: 'crab', sender: 'tg:7' }

interface Behaviour {
  script?: Script
  check(at: ConnectedNode): Promise<void>
}

/**
 * The behaviour that all connections to a node have in common. Turns of `tg:7` are of the remote class on each
 * of them.
 */
const BEHAVIOURS: Record<string, Behaviour | (() => Behaviour)> = {
  'a ping is answered': {
    async check({ dispatch }) {
      assert.deepEqual(await request(dispatch, 'ping', {}, NEVER), {})
    },
  },
  'the request id is that of the request, in every reply': {
    script: [{ parts: ['yes'] }],
    async check({ dispatch }) {
      const message = { requestId: 7, msg: { $case: 'stream', value: { ...PAIR, content: 'hi' } } } as const
      const replies = await repliesTo({ dispatch }, message)
      assert.deepEqual(new Set(replies.map(({ requestId }) => requestId)), new Set([7]))
      assert.ok(replies.length > 3)
    },
  },
  'a message without a variant is 400, get_config 410, and extension 500': {
    async check(at) {
      assert.deepEqual(await readReplyCode(at, undefined), [400, 'empty client message'])
      assert.equal((await readReplyCode(at, { $case: 'getConfig', value: {} }))[0], 410)
      const extension = await readReplyCode(at, { $case: 'extension', value: new Uint8Array([1]) })
      assert.ok([500, 403].includes(Number(extension[0])))
    },
  },
  'a turn streams its events in order, counted, with `end` last': {
    script: [{ parts: ['Looking around.'] }, { parts: ['Again.'] }],
    async check(at) {
      const one = await openStream(at, { content: 'one' })
      const two = await openStream(at, { content: 'two' })
      assert.deepEqual(
        one.map(({ event }) => event?.$case),
        ['start', 'textStart', 'chunk', 'textEnd', 'end'],
      )
      const seqs = [...one, ...two].map(({ seq }) => seq)
      assert.deepEqual(
        seqs,
        seqs.map((_, index) => index + 1),
      )
    },
  },
  'send answers with the whole text, and keeps the conversation': {
    script: [{ parts: ['One.'], usage: { input: 5, output: 2 } }, { parts: ['Two.'] }],
    async check({ dispatch, server }) {
      const answer = await request(dispatch, 'send', { ...PAIR, content: 'first' }, NEVER)
      assert.deepEqual([answer.content, answer.turns, answer.usage?.promptTokens], ['One.', 1, 5])
      await request(dispatch, 'send', { ...PAIR, content: 'second' }, NEVER)
      const sent = server.requests[1]!.json['messages'] as { role: string }[]
      assert.deepEqual(
        sent.map(({ role }) => role),
        ['system', 'user', 'assistant', 'user'],
      )
    },
  },
  'a failed run is an error of send and an end of stream, of the same kind': {
    script: () => ({ status: 401, body: 'who are you' }),
    async check(at) {
      await assert.rejects(request(at.dispatch, 'send', { ...PAIR, content: 'x' }, NEVER), {
        kind: 'credentials',
      })
      const end = (await openStream(at, { content: 'x' })).at(-1)?.event
      assert.equal(end?.$case === 'end' && end.value.detail?.kind, 'credentials')
    },
  },
  'an unknown agent is 404 before anything is stored': {
    async check({ dispatch, services }) {
      const message = { ...PAIR, agent: 'nobody', content: 'x' }
      await assert.rejects(request(dispatch, 'send', message, NEVER), { kind: 'missing' })
      assert.deepEqual(await services.stores.storage.listSessions({}), [])
    },
  },
  'hanging up cancels the turn, at the model server too': {
    script: [{ parts: ['Half'], end: 'hang' }, { parts: ['yes'] }],
    async check({ dispatch, server, services }) {
      for await (const { event } of streamTurn(dispatch, { ...PAIR, content: 'go' }, NEVER)) {
        if (event?.$case === 'chunk') break
      }
      assert.equal(await server.requests[0]!.done, false)
      await until('nothing runs', () => services.live.running().length === 0)
      assert.equal((await request(dispatch, 'send', { ...PAIR, content: 'on' }, NEVER)).content, 'yes')
    },
  },
  'an abort hangs up, also while the turn is silent': {
    script: [{ silent: true }],
    async check({ dispatch, server, services }) {
      const stop = new AbortController()
      const sending = request(dispatch, 'send', { ...PAIR, content: 'go' }, stop.signal)
      await until('the model is asked', () => server.requests.length === 1)
      stop.abort()
      await assert.rejects(sending, { kind: 'cancelled' })
      assert.equal(await server.requests[0]!.done, false)
      await until('nothing runs', () => services.live.running().length === 0)
    },
  },
  'kill stops the turn, whose stream says so, and the conversation goes on': {
    script: [{ parts: ['Half'], end: 'hang' }, { parts: ['yes'] }],
    async check(at) {
      const events: WireEvent[] = []
      for await (const { event } of streamTurn(at.dispatch, { ...PAIR, content: 'go' }, NEVER)) {
        events.push(event!)
        if (event?.$case === 'chunk') await request(at.dispatch, 'kill', PAIR, NEVER)
      }
      const end = events.at(-1)
      assert.equal(end?.$case === 'end' && end.value.detail?.stopReason, 'cancelled')
      await request(at.dispatch, 'kill', PAIR, NEVER) // stopping a known idle pair does nothing
      await assert.rejects(request(at.dispatch, 'kill', { ...PAIR, sender: 'tg:8' }, NEVER), {
        kind: 'missing',
      })
      assert.equal((await request(at.dispatch, 'send', { ...PAIR, content: 'on' }, NEVER)).content, 'yes')
    },
  },
  'a detached turn outlives its client, and is followed and waited for': {
    script: () => ({ parts: ['One', new Promise<void>((done) => setImmediate(done)), ' two'] }),
    async check({ dispatch }) {
      const message = { ...PAIR, content: 'go', detach: true }
      let runId = ''
      for await (const { event } of streamTurn(dispatch, message, NEVER)) {
        if (event?.$case === 'start') runId = event.value.runId
        break
      }
      const { content, end, sender } = await request(dispatch, 'waitRun', { runId }, NEVER)
      assert.deepEqual([content, end?.error, sender], ['One two', '', 'tg:7'])
      await assert.rejects(request(dispatch, 'waitRun', { runId: 'x' }, NEVER), { kind: 'missing' })
    },
  },
  'a turn is steered while it runs': () => {
    const steered = Promise.withResolvers<void>()
    return {
      script: [{ parts: ['One', steered.promise] }, { parts: ['Two'] }],
      async check(at) {
        const seen: string[] = []
        for await (const { event } of streamTurn(at.dispatch, { ...PAIR, content: 'go' }, NEVER)) {
          if (event?.$case === 'userSteered' || event?.$case === 'chunk') seen.push(event.value.content)
          if (event?.$case !== 'chunk' || seen.length > 1) continue
          await request(at.dispatch, 'steerSession', { ...PAIR, content: 'and this' }, NEVER)
          steered.resolve()
        }
        assert.deepEqual(seen, ['One', 'and this', 'Two'])
        const late = request(at.dispatch, 'steerSession', { ...PAIR, content: 'late' }, NEVER)
        await assert.rejects(late, { kind: 'missing' })
      },
    }
  },
  'a question comes in the stream and is answered beside it': {
    script: [{ parts: [askCall('Which?')] }, { parts: ['So b.'] }],
    async check(at) {
      const message = { ...PAIR, content: 'choose', options: { onAsk: OnAsk.CLIENT } }
      const seen: string[] = []
      for await (const { event } of streamTurn(at.dispatch, message, NEVER)) {
        seen.push(event!.$case)
        if (event?.$case !== 'askUser') continue
        const { asks } = await request(at.dispatch, 'listAsks', {}, NEVER)
        assert.deepEqual(
          asks.map(({ ask }) => ask?.askId),
          [event.value.askId],
        )
        const answer = { ...PAIR, askId: event.value.askId, content: '{"Which?":"b"}' }
        await request(at.dispatch, 'replyToAsk', answer, NEVER)
        await assert.rejects(request(at.dispatch, 'replyToAsk', answer, NEVER), { kind: 'missing' })
      }
      assert.ok(seen.indexOf('askClosed') > seen.indexOf('askUser'), seen.join(' '))
      assert.match(at.server.requests[1]!.text, /Which\?[^}]*b/)
    },
  },
  'two followers see the same, whoever speaks': {
    script: () => ({ parts: ['yes'] }),
    async check({ dispatch }) {
      await request(dispatch, 'send', { ...PAIR, content: 'one' }, NEVER)
      const stop = new AbortController()
      const seen: [string[], string[]] = [[], []]
      const following = seen.map(async (into) => {
        for await (const { event } of requestMany(dispatch, 'attach', PAIR, stop.signal)) {
          if (event?.$case === 'stream') into.push(`${event.value.seq} ${event.value.event?.$case}`)
          else if (event?.$case === 'message') into.push(event.value.content)
          else into.push('state')
        }
      })
      await until('both follow', () => seen.every((into) => into.length === 1))
      await request(dispatch, 'send', { ...PAIR, content: 'two' }, NEVER)
      const isOver = (into: string[]) => into.some((line) => line.endsWith(' end')) && into.at(-1) === 'state'
      await until('both have seen it', () => seen.every(isOver))
      stop.abort()
      await Promise.allSettled(following)
      assert.deepEqual(seen[0], seen[1])
      assert.deepEqual(
        seen[0].filter((line) => line !== 'state').map((line) => line.replace(/^\d+ /, '')),
        ['two', 'start', 'textStart', 'chunk', 'textEnd', 'end'],
      )
    },
  },
  'eight turns at once are eight answers': {
    script: ({ text }) => ({ parts: [/number (\d)/.exec(text.slice(text.lastIndexOf('number')))![1]!] }),
    async check({ dispatch }) {
      const answers = await Promise.all(
        Array.from({ length: 8 }, (_, at) =>
          request(dispatch, 'send', { agent: 'crab', sender: `tg:${at}`, content: `number ${at}` }, NEVER),
        ),
      )
      assert.deepEqual(
        answers.map(({ content }) => content),
        ['0', '1', '2', '3', '4', '5', '6', '7'],
      )
    },
  },
  'messages to one conversation are answered one after the other': {
    script: (_, index) => ({ parts: [`${index}`] }),
    async check({ dispatch, server }) {
      const send = (content: string) => request(dispatch, 'send', { ...PAIR, content }, NEVER)
      await Promise.all(['a', 'b', 'c', 'd'].map(send))
      const last = server.requests[3]!.json['messages'] as { role: string }[]
      assert.equal(last.filter(({ role }) => role === 'assistant').length, 3)
      const { id: filePath } = await request(dispatch, 'getSession', PAIR, NEVER)
      const history = { filePath }
      const { messages } = await request(dispatch, 'getConversationHistory', history, NEVER)
      assert.deepEqual(
        messages.map(({ role }) => role),
        Array.from({ length: 8 }, (_, at) => (at % 2 === 0 ? 'user' : 'assistant')),
      )
    },
  },
  'what only programs of this user may call is refused to TCP clients, by name': {
    async check(at) {
      if (at.door !== 'over TCP')
        return assert.ok(await request(at.dispatch, 'createAgent', { name: 'x' }, NEVER))
      const local = OPERATIONS.filter((name) => CALLERS[name] === 'local' && name !== 'extension')
      for (const name of local) {
        await assert.rejects(request(at.dispatch, name as 'ping', {}, NEVER), { kind: 'denied' }, name)
      }
    },
  },
  'every operation is served': {
    async check({ dispatch }) {
      const known = OPERATIONS.filter(
        (name) => !ENDLESS.has(name) && name !== 'shutdown' && name !== 'reload',
      )
      for (const name of known) {
        const [, message] = await readReplyCode({ dispatch }, {
          $case: name,
          value: makeRequestBody(name),
        } as never)
        assert.doesNotMatch(message, /not supported here/, name)
        assert.doesNotMatch(message, /this version/, name)
      }
    },
  },
  'a path is no session': {
    async check({ dispatch, door }) {
      for (const filePath of ['', '..', '../../etc/passwd', '/etc/passwd', 'a/b', '\0']) {
        const kind = door === 'over TCP' ? 'missing' : 'invalid' // a client cannot see sessions that it does not own
        await assert.rejects(request(dispatch, 'getConversationHistory', { filePath }, NEVER), { kind })
      }
    },
  },
}

const ENDLESS: ReadonlySet<Operation> = new Set([
  'subscribeEvents',
  'subscribeMcpEvents',
  'attach',
  'mcpTrace',
])

for (const door of CONNECTION_KINDS) {
  for (const [what, behaviour] of Object.entries(BEHAVIOURS)) {
    test(`${door}: ${what}`, () =>
      checkBehind(door, typeof behaviour === 'function' ? behaviour() : behaviour))
  }
}

async function checkBehind(door: ConnectionKind, { script = [], check }: Behaviour): Promise<void> {
  await using at = await startConnectedNode(door, script)
  await check(at)
}

function askCall(question: string) {
  const options = [{ label: 'a' }, { label: 'b' }]
  return {
    call: 'c',
    name: 'ask_user',
    args: JSON.stringify({ questions: [{ question, header: 'Q', options }] }),
  }
}

async function openStream({ dispatch }: ConnectedNode, message: DeepPartial<StreamMsg>) {
  return await Array.fromAsync(streamTurn(dispatch, { ...PAIR, ...message }, NEVER))
}

async function repliesTo({ dispatch }: Pick<ConnectedNode, 'dispatch'>, message: DeepPartial<ClientMessage>) {
  return await Array.fromAsync(dispatch(ClientMessage.create(message), NEVER))
}

/** Returns the code and message of the last reply when it is an error, otherwise its case. */
async function readReplyCode(
  at: Pick<ConnectedNode, 'dispatch'>,
  msg: DeepPartial<ClientMessage>['msg'],
): Promise<[number | string, string]> {
  const replies: ServerMessage[] = await repliesTo(at, { msg } as DeepPartial<ClientMessage>)
  const last = replies.at(-1)?.msg
  return last?.$case === 'error' ? [last.value.code, last.value.message] : [last?.$case ?? '', '']
}

function makeRequestBody(name: Operation): unknown {
  return name === 'extension' ? new Uint8Array() : {}
}
