import type { ClientMessage, ServerMessage, StreamEvent } from './crabtalk.generated.ts'
import type { RequestOf } from './operations.ts'

/** The operations and fields of the fixed protocol; proto/crabtalk.proto marks all others as additions. */
const FIXED_REQUESTS = {
  send: ['agent', 'content', 'sender', 'cwd', 'guest', 'toolChoice'],
  stream: ['agent', 'content', 'sender', 'cwd', 'guest', 'toolChoice'],
  replyToAsk: ['agent', 'sender', 'content'],
  listActiveConversations: ['agent', 'sender'],
  kill: ['agent', 'sender'],
  compact: ['agent', 'sender'],
  listConversations: ['agent', 'sender'],
  setActiveModel: ['model'],
  listMcps: ['agent'],
  listAgents: [],
  getAgent: ['name'],
  createAgent: ['name', 'config', 'prompt'],
  updateAgent: ['name', 'config', 'prompt'],
  deleteAgent: ['name'],
  listSkills: [],
  ping: [],
  reload: [],
  getStats: [],
  subscribeEvents: [],
  listModels: [],
  getConversationHistory: ['filePath'],
  deleteConversation: ['filePath'],
  subscribeEvent: ['source', 'targetAgent', 'once'],
  unsubscribeEvent: ['id'],
  listSubscriptions: [],
  publishEvent: ['source', 'payload'],
  steerSession: ['agent', 'sender', 'content'],
  upsertMcp: ['config', 'agent'],
  deleteMcp: ['name', 'agent'],
  renameAgent: ['oldName', 'newName'],
  subscribeMcpEvents: [],
} as const

/** The name of an operation that every daemon serves, even one without `hello`. */
export type FixedOperation = keyof typeof FIXED_REQUESTS

type FixedRequests = { [O in FixedOperation]: readonly (keyof RequestOf<O>)[] }

const REQUESTS: Readonly<Record<string, readonly string[]>> = FIXED_REQUESTS satisfies FixedRequests

/** Whether every daemon serves the operation. */
export function isFixedOperation(operation: string): operation is FixedOperation {
  return Object.hasOwn(REQUESTS, operation) || operation === 'extension'
}

/** Returns the fields of a request that the fixed protocol lacks and that are set. */
export function addedFields({ msg }: Pick<ClientMessage, 'msg'>): string[] {
  const fixed = msg && REQUESTS[msg.$case]
  if (!fixed) return []
  return Object.entries(msg.value)
    .filter(([name, value]) => !fixed.includes(name) && !isDefault(value))
    .map(([name]) => name)
}

/**
 * Whether a message reveals a client that knows the additions: by its id, its operation or one of its fields.
 */
function usesAdditions(message: ClientMessage): boolean {
  const { msg, requestId } = message
  if (requestId !== 0) return true
  if (msg === undefined || msg.$case === 'getConfig') return false
  return !isFixedOperation(msg.$case) || addedFields(message).length > 0
}

/**
 * The protocol that the client of one connection understands: the fixed one, until a request uses an
 * addition.
 *
 * `auth` does not count: a proxy may present the token for a client that does not know the additions.
 */
export class ClientProtocol {
  #hasAdditions = false

  /** Inspects a request. Call it before serving the request. */
  see(message: ClientMessage): void {
    this.#hasAdditions ||= message.msg?.$case !== 'auth' && usesAdditions(message)
  }

  /** Whether the client understands cases and events that the fixed protocol lacks. */
  get hasAdditions(): boolean {
    return this.#hasAdditions
  }
}

/** The events of a turn in the fixed protocol. Its clients fail the turn at any other event. */
const FIXED_EVENTS: ReadonlySet<string> = new Set<NonNullable<StreamEvent['event']>['$case']>([
  'start',
  'chunk',
  'thinking',
  'toolStart',
  'toolResult',
  'toolsComplete',
  'end',
  'askUser',
  'userSteered',
  'textStart',
  'textEnd',
  'thinkingStart',
  'thinkingEnd',
  'contextUsage',
])

/** Whether a client of the fixed protocol can read this reply. Replies to fixed operations have fixed cases. */
export function isFixedReply({ msg }: ServerMessage): boolean {
  if (msg?.$case !== 'stream') return msg !== undefined
  return msg.value.event !== undefined && FIXED_EVENTS.has(msg.value.event.$case)
}

/**
 * Whether a field of a message is unset: an optional one is absent, any other has the default that is not
 * encoded.
 */
export function isDefault(value: unknown): boolean {
  if (value === undefined || value === '' || value === 0 || value === false) return true
  return Array.isArray(value) && value.length === 0
}
