import { CrabError } from '../../core/base/errors.ts'
import type { Channel } from '../../core/policy/trust.ts'
import { classOfClient } from '../../core/policy/trust.ts'
import { type Handlers, wireName } from '../../core/protocol/dispatch.ts'
import type { Operation } from '../../core/protocol/operations.ts'
import type { Services } from '../services.ts'
import { checkOwner, type OwnedOperation } from './owned.ts'

/**
 * Which clients an operation is for. Programs of this user may call every operation.
 *
 * `any`: a TCP client may call it, too; it reads and changes nothing. `own`: a TCP client may call it for its own pairs,
 * sessions, runs and questions. `local`: a TCP client may not call it.
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
  listActiveConversations: 'local',
  listConversations: 'local',
  listArchives: 'local',
  forkSession: 'local',
  activateSession: 'local',
  setTitle: 'local',
  deleteConversation: 'local',
  undo: 'local',
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

/** Wraps the handlers so that each refuses, with `denied` or `missing`, the messages that its client may not send. */
export function guarded<H extends Partial<Handlers>>(handlers: H, services: Services, channel: Channel): H {
  if (classOfClient(channel) === 'local') return handlers
  const entries = Object.entries(handlers) as [Operation, AnyHandler][]
  const kept = entries.map(([operation, handle]) => [operation, guard(operation, handle)])
  return Object.fromEntries(kept) as H

  function guard(operation: Operation, handle: AnyHandler): AnyHandler {
    if (CALLERS[operation] === 'any') return handle
    if (CALLERS[operation] === 'local') return () => refuse(operation)
    const check = (message: unknown) =>
      checkOwner(operation as OwnedOperation, message, { services, channel })
    if (!STREAMS.has(operation)) {
      return async (message, signal) => {
        await check(message)
        return await handle(message, signal)
      }
    }
    return async function* (message, signal) {
      await check(message)
      yield* handle(message, signal) as AsyncIterable<unknown>
    }
  }
}

type AnyHandler = (message: unknown, signal: AbortSignal) => unknown

/** The operations of pairs that are answered by many replies. */
const STREAMS: ReadonlySet<Operation> = new Set(['stream', 'attach'])

function refuse(operation: Operation): never {
  throw new CrabError(
    'denied',
    `Cannot serve ${wireName(operation)}: a TCP client may only use its own conversations`,
    { hint: 'call it through the socket in the home directory of the daemon' },
  )
}
