import { CrabError } from '../../core/base/errors.ts'
import { type Channel, mayChange } from '../../core/policy/trust.ts'
import { type Handlers, wireName } from '../../core/protocol/dispatch.ts'
import type { Operation } from '../../core/protocol/operations.ts'

/**
 * Who may ask for an operation (decision 29).
 *
 * `anyone`: it changes nothing, or what it does is judged by the class of a turn, where it is done. `pair`: somebody at
 * this machine, or the pair itself where it is one from elsewhere. `local`: only somebody at this machine.
 */
export type Callers = 'anyone' | 'pair' | 'local'

/** Of every operation; one that is forgotten does not compile. */
export const CALLERS: Record<Operation, Callers> = {
  ping: 'anyone',
  auth: 'anyone',
  hello: 'anyone',
  send: 'anyone',
  stream: 'anyone',
  attach: 'anyone',
  waitRun: 'anyone',
  steerSession: 'anyone',
  kill: 'anyone',
  replyToAsk: 'anyone',
  listAsks: 'anyone',
  policyExplain: 'anyone',
  listActiveConversations: 'anyone',
  listConversations: 'anyone',
  getConversationHistory: 'anyone',
  listMessages: 'anyone',
  getSession: 'anyone',
  searchSessions: 'pair',
  listArchives: 'anyone',
  generateTitle: 'anyone',
  newSession: 'pair',
  compact: 'pair',
  forkSession: 'local',
  activateSession: 'local',
  setTitle: 'local',
  deleteConversation: 'local',
  undo: 'local',
  listMemory: 'anyone',
  searchMemory: 'anyone',
  memoryOp: 'local',
  replaceMemory: 'local',
  listSkills: 'anyone',
  listModels: 'anyone',
  setActiveModel: 'local',
  listAgents: 'anyone',
  getAgent: 'anyone',
  createAgent: 'local',
  updateAgent: 'local',
  renameAgent: 'local',
  deleteAgent: 'local',
  listMcps: 'anyone',
  mcpView: 'anyone',
  mcpAction: 'anyone', // it asks again for what it changes
  mcpTrace: 'local', // what servers are told, and say
  upsertMcp: 'local',
  deleteMcp: 'local',
  replaceMcps: 'local',
  subscribeMcpEvents: 'anyone',
  subscribeEvents: 'anyone',
  subscribeEvent: 'local',
  unsubscribeEvent: 'local',
  listSubscriptions: 'anyone',
  publishEvent: 'local',
  getStats: 'anyone',
  reload: 'local',
  shutdown: 'local',
  traceEvent: 'local',
  extension: 'local',
}

/** The handlers, each of which answers only those who may ask for it; `denied` for the others. */
export function guarded<H extends Partial<Handlers>>(handlers: H, channel: Channel): H {
  const entries = Object.entries(handlers) as [
    Operation,
    (message: unknown, signal: AbortSignal) => unknown,
  ][]
  const kept = entries.map(([operation, handle]) => {
    const guard = (message: unknown, signal: AbortSignal) => {
      refuseStrangers(operation, channel, message)
      return handle(message, signal)
    }
    return [operation, CALLERS[operation] === 'anyone' ? handle : guard]
  })
  return Object.fromEntries(kept) as H
}

/** Throws `denied` for what the channel may not change. */
function refuseStrangers(operation: Operation, channel: Channel, message: unknown): void {
  const sender = CALLERS[operation] === 'pair' ? senderOf(message) : ''
  if (mayChange(channel, sender)) return
  throw new CrabError(
    'denied',
    `Cannot serve ${wireName(operation)}: only somebody at this machine may do that`,
    {
      hint: 'do it on the machine itself',
    },
  )
}

function senderOf(message: unknown): string {
  const { sender } = message as { sender?: unknown }
  return typeof sender === 'string' ? sender : ''
}
