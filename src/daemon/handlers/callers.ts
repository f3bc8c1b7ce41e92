import { CrabError, toCrabError } from '../../core/base/errors.ts'
import { checkSender } from '../../core/base/sender-name.ts'
import { completePair } from '../../core/policy/client-senders.ts'
import { type Channel, classifyTurn } from '../../core/policy/trust.ts'
import { type Handlers, wireName } from '../../core/protocol/dispatch.ts'
import type { Operation } from '../../core/protocol/operations.ts'
import { shownError } from '../../core/runtime/shown-error.ts'
import type { Services } from '../services.ts'
import { checkOwner, type OwnedOperation } from './check-owner.ts'

/**
 * The clients that may call an operation. Programs of this user may call every operation.
 *
 * `any`: TCP clients may also call it; it neither reads nor changes data. `own`: a TCP client may call it for
 * its own pairs, sessions, runs and questions. `local`: TCP clients may not call it.
 */
export type Callers = 'any' | 'own' | 'local'

/** The clients of every operation; an operation without a row does not compile. */
export const CALLERS: { readonly [O in Operation]: O extends OwnedOperation ? 'own' : 'any' | 'local' } = {
  ping: 'any',
  auth: 'any',
  hello: 'any',
  send: 'own',
  stream: 'own',
  attach: 'own',
  waitRun: 'own',
  steerSession: 'own',
  kill: 'own',
  replyToAsk: 'own',
  listAsks: 'own',
  compact: 'own',
  newSession: 'own',
  listMessages: 'own',
  getSession: 'own',
  getConversationHistory: 'own',
  searchSessions: 'own',
  generateTitle: 'own',
  policyExplain: 'local',
  listRules: 'local',
  changeRule: 'local',
  listActiveConversations: 'local',
  listConversations: 'local',
  listArchives: 'local',
  usageReport: 'local',
  setSessionCwd: 'local',
  setSessionModel: 'local',
  forkSession: 'local',
  activateSession: 'local',
  setTitle: 'local',
  deleteConversation: 'local',
  undo: 'local',
  contextView: 'local',
  sessionDiff: 'local',
  rewind: 'local',
  undoCompaction: 'local',
  listMemory: 'local',
  searchMemory: 'local',
  memoryOp: 'local',
  replaceMemory: 'local',
  listSkills: 'local',
  listModels: 'local',
  setActiveModel: 'local',
  listAgents: 'local',
  getAgent: 'local',
  createAgent: 'local',
  updateAgent: 'local',
  renameAgent: 'local',
  deleteAgent: 'local',
  listMcps: 'local',
  mcpView: 'local',
  mcpAction: 'local',
  mcpTrace: 'local',
  upsertMcp: 'local',
  deleteMcp: 'local',
  replaceMcps: 'local',
  subscribeMcpEvents: 'local',
  subscribeEvents: 'local',
  subscribeEvent: 'local',
  unsubscribeEvent: 'local',
  listSubscriptions: 'local',
  publishEvent: 'local',
  getStats: 'local',
  reload: 'local',
  shutdown: 'local',
  traceEvent: 'local',
  extension: 'local',
}

/**
 * Wraps the handlers so that they refuse senders that checkSender() does not allow (`invalid`) and messages that their
 * client may not send (`denied` or `missing`), and so that errors for untrusted clients and turns do not
 * reveal anything about this machine.
 */
export function guarded<H extends Partial<Handlers>>(handlers: H, services: Services, channel: Channel): H {
  const entries = Object.entries(handlers) as [Operation, AnyHandler][]
  if (typeof channel === 'string') {
    return Object.fromEntries(
      entries.map(([operation, handle]) => [operation, withChecks(operation, handle)]),
    ) as H
  }
  const client = channel
  const guardedEntries = entries.map(([operation, handle]) => [
    operation,
    withChecks(operation, guard(operation, handle)),
  ])
  const closedEntries = CLOSED.map((operation) => [
    operation,
    async () => await reportDenial(operation, refuse),
  ])
  return { ...Object.fromEntries(guardedEntries), ...Object.fromEntries(closedEntries) } as H

  function guard(operation: Operation, handle: AnyHandler): AnyHandler {
    if (CALLERS[operation] === 'any') return handle
    const check = async (message: unknown) =>
      await reportDenial(operation, async () => {
        const own = PAIRS.has(operation)
          ? { ...(message as object), ...completePair(channel, message as PairMessage) }
          : message
        await checkOwner(operation as OwnedOperation, own, { services, channel })
        if (MODEL_CHOOSING.has(operation)) refuseModel(operation, own as { model?: string })
        return own
      })
    if (!STREAMS.has(operation)) return async (message, signal) => await handle(await check(message), signal)
    return async function* (message, signal) {
      yield* handle(await check(message), signal) as AsyncIterable<unknown>
    }
  }

  function withChecks(operation: Operation, handle: AnyHandler): AnyHandler {
    const isStream = STREAMS.has(operation)
    return (message, signal) => {
      const { sender = '' } = message as PairMessage
      checkSender(sender, 'invalid')
      const isLimited = typeof channel !== 'string' || TURNS.has(operation)
      if (!isLimited) return handle(message, signal)
      const filterError = (reason: unknown) =>
        shownError(toCrabError(reason), classifyTurn(channel, sender), services.node.log)
      return isStream
        ? streamFiltered(() => handle(message, signal), filterError)
        : callFiltered(() => handle(message, signal), filterError)
    }
  }

  /** Runs a check of an operation, and reports a denial through `client.refused`. */
  async function reportDenial<T>(
    operation: Operation,
    check: (operation: Operation) => T,
  ): Promise<Awaited<T>> {
    try {
      return await check(operation)
    } catch (reason) {
      const isDenied = reason instanceof CrabError && reason.kind === 'denied'
      if (isDenied) client.refused?.(wireName(operation), reason.message)
      throw reason
    }
  }
}

type ErrorFilter = (reason: unknown) => CrabError

/** Runs a call and converts the error it throws. */
async function callFiltered(call: () => unknown, filterError: ErrorFilter): Promise<unknown> {
  try {
    return await call()
  } catch (reason) {
    throw filterError(reason)
  }
}

/** Yields the replies of a call and converts the error it throws. */
async function* streamFiltered(call: () => unknown, filterError: ErrorFilter): AsyncGenerator<unknown> {
  try {
    yield* call() as AsyncIterable<unknown>
  } catch (reason) {
    throw filterError(reason)
  }
}

/** The operations that are closed to TCP clients, even when this host does not serve them. */
const CLOSED = (Object.keys(CALLERS) as Operation[]).filter((operation) => CALLERS[operation] === 'local')

type AnyHandler = (message: unknown, signal: AbortSignal) => unknown

/** The operations whose message names a pair. */
const PAIRS: ReadonlySet<Operation> = new Set([
  'send',
  'stream',
  'attach',
  'steerSession',
  'kill',
  'replyToAsk',
  'compact',
  'newSession',
  'searchSessions',
  'getSession',
])

interface PairMessage {
  agent?: string
  sender?: string
}

/** The operations, other than turns, whose message may choose a model. */
const MODEL_CHOOSING: ReadonlySet<Operation> = new Set(['compact', 'generateTitle'])

/** Throws `denied` when a TCP client chooses a model: the agent's file decides which one it may use. */
function refuseModel(operation: Operation, { model }: { model?: string }): void {
  if (!model) return
  throw new CrabError(
    'denied',
    `Cannot use the model "${model}" for ${wireName(operation)}: a TCP client may not choose one`,
    { hint: "leave it out to use the agent's model" },
  )
}

/** The operations that start a turn; on every channel, their errors are filtered by the class of the turn. */
const TURNS: ReadonlySet<Operation> = new Set(['send', 'stream'])

/** The operations of pairs that send more than one reply. */
const STREAMS: ReadonlySet<Operation> = new Set(['stream', 'attach'])

function refuse(operation: Operation): never {
  throw new CrabError(
    'denied',
    `Cannot serve ${wireName(operation)}: a TCP client may only use its own conversations`,
    { hint: 'call it through the socket in the home directory of the daemon' },
  )
}
