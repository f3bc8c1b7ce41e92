import type { ClientMessage, DeepPartial } from '../../src/core/protocol/crabtalk.generated.ts'
import { OnAsk } from '../../src/core/protocol/crabtalk.generated.ts'
import { type Dispatch, request } from '../../src/core/protocol/dispatch.ts'
import { isEndless, type Operation } from '../../src/core/protocol/operations.ts'
import { until } from './until.ts'

/** A conversation with messages, and the ids that belong to it. */
export interface KnownPair {
  agent: string
  sender: string
  session: string
  runId: string
  /** A pending question in another conversation of the same class. */
  asking: { agent: string; sender: string; askId: string }
}

type Body = NonNullable<DeepPartial<ClientMessage>['msg']>

/** An error, or the case of a reply with its content. */
export interface ProbeReply {
  code: number
  text: string
}

/** Sends one operation as a client and returns its first reply; undefined when it continues without one. */
export type Probe = (message: Body) => Promise<ProbeReply | undefined>

/** Asks a question when the input requests it, and otherwise answers yes. */
export function probeScript({ text }: { text: string }) {
  const question = { question: 'Which?', header: 'Q', options: [{ label: 'a' }, { label: 'b' }] }
  const args = JSON.stringify({ questions: [question] })
  return { parts: [text.includes('ask me') ? { call: 'c', name: 'ask_user', args } : 'yes'] }
}

/** Creates a message and a pending question in conversations of these senders. */
export async function preparePair(
  dispatch: Dispatch,
  [sender, asker]: readonly [string, string],
): Promise<KnownPair> {
  const agent = 'crab'
  const { runId } = await request(dispatch, 'send', { agent, sender, content: 'hi', detach: true }, NEVER)
  await request(dispatch, 'waitRun', { runId }, NEVER)
  const { id: session } = await request(dispatch, 'getSession', { agent, sender }, NEVER)
  const options = { onAsk: OnAsk.PARK }
  await request(dispatch, 'send', { agent, sender: asker, content: 'ask me', detach: true, options }, NEVER)
  const waiting = async () =>
    (await request(dispatch, 'listAsks', {}, NEVER)).asks.find((ask) => ask.sender === asker)
  await until('the question waits', async () => (await waiting()) !== undefined)
  return {
    agent,
    sender,
    session,
    runId,
    asking: { agent, sender: asker, askId: (await waiting())!.ask!.askId },
  }
}

/** Whether a client may use an operation on that pair. */
export async function isServed(operation: Operation, pair: KnownPair, probe: Probe): Promise<boolean> {
  const reply = await probe({ $case: operation, value: makeBody(operation, pair) } as Body)
  if (operation === 'listAsks' && reply?.code === 0) return reply.text.includes(pair.asking.askId)
  if (reply?.code === 404) return !IDENTIFYING.has(operation)
  return reply === undefined || reply.code !== 403
}

/** Operations on things that exist here, so that `missing` is a refusal. */
const IDENTIFYING: ReadonlySet<Operation> = new Set([
  ...(['getSession', 'listMessages', 'getConversationHistory', 'generateTitle'] as const),
  ...(['waitRun', 'replyToAsk'] as const),
])

function makeBody(operation: Operation, { session, runId, asking, ...pair }: KnownPair): unknown {
  switch (operation) {
    case 'hello':
      return { versions: [1] }
    case 'send':
    case 'stream':
      return { ...pair, content: 'hi', detach: true }
    case 'getSession':
    case 'listMessages':
    case 'generateTitle':
      return { session }
    case 'getConversationHistory':
      return { filePath: session }
    case 'waitRun':
      return { runId, peek: true }
    case 'replyToAsk':
      return { ...asking, content: '{}' } // never answers, so that the question stays pending
    case 'attach':
    case 'steerSession':
    case 'kill':
    case 'compact':
    case 'newSession':
    case 'searchSessions':
      return { ...pair, content: 'and', query: 'hi' }
    case 'extension':
      return new Uint8Array([1])
    default:
      return {}
  }
}

/** Whether an operation streams replies, so that a first one may never arrive. */
export function mayStaySilent({ $case }: Body): boolean {
  return isEndless($case as Operation)
}

const NEVER = new AbortController().signal
