import type { ClientMessage, ServerMessage } from './crabtalk.generated.ts'

type RequestBody = NonNullable<ClientMessage['msg']>

/** A reply's case and value, without the envelope. */
export type ReplyBody = NonNullable<ServerMessage['msg']>

/**
 * Every operation a client can request, named as in the proto file. `get_config` is excluded, because it was
 * removed.
 */
export type Operation = Exclude<RequestBody['$case'], 'getConfig'>

/** The case of the replies to each operation; in addition, any operation may be answered by `error`. */
export const REPLIES = {
  send: 'response',
  stream: 'stream',
  replyToAsk: 'pong',
  listActiveConversations: 'activeConversations',
  kill: 'pong',
  compact: 'compact',
  listConversations: 'conversationList',
  setActiveModel: 'pong',
  listMcps: 'mcpList',
  listAgents: 'agentList',
  getAgent: 'agentInfo',
  createAgent: 'agentInfo',
  updateAgent: 'agentInfo',
  deleteAgent: 'pong',
  listSkills: 'skillList',
  ping: 'pong',
  reload: 'pong',
  getStats: 'stats',
  subscribeEvents: 'agentEvent',
  listModels: 'modelList',
  getConversationHistory: 'conversationHistory',
  deleteConversation: 'pong',
  subscribeEvent: 'subscriptionInfo',
  unsubscribeEvent: 'pong',
  listSubscriptions: 'subscriptionList',
  publishEvent: 'pong',
  steerSession: 'pong',
  upsertMcp: 'mcpInfo',
  deleteMcp: 'pong',
  renameAgent: 'agentInfo',
  subscribeMcpEvents: 'mcpEvent',
  auth: 'pong',
  hello: 'hello',
  newSession: 'newSession',
  forkSession: 'forkSession',
  activateSession: 'activateSession',
  setTitle: 'setTitle',
  generateTitle: 'generateTitle',
  listMessages: 'listMessages',
  getSession: 'getSession',
  searchSessions: 'searchSessions',
  searchMemory: 'searchMemory',
  listMemory: 'listMemory',
  memoryOp: 'memoryOp',
  attach: 'attach',
  listAsks: 'listAsks',
  waitRun: 'waitRun',
  mcpView: 'mcpView',
  mcpAction: 'mcpAction',
  mcpTrace: 'mcpTrace',
  policyExplain: 'policyExplain',
  undo: 'undo',
  replaceMcps: 'replaceMcps',
  listArchives: 'listArchives',
  traceEvent: 'traceEvent',
  shutdown: 'pong',
  replaceMemory: 'replaceMemory',
  contextView: 'contextView',
  sessionDiff: 'sessionDiff',
  rewind: 'rewind',
  undoCompaction: 'undoCompaction',
  usageReport: 'usageReport',
  setSessionCwd: 'setSessionCwd',
  listRules: 'listRules',
  changeRule: 'changeRule',
  setSessionModel: 'setSessionModel',
  extension: 'extension',
} as const satisfies Record<Operation, ReplyBody['$case']>

/** Operations with any number of replies; every other operation has exactly one. */
export type StreamOperation = 'stream' | 'subscribeEvents' | 'subscribeMcpEvents' | 'attach' | 'mcpTrace'

/**
 * Whether this reply is the last one to the operation. An empty message counts as an operation with one
 * reply.
 */
export function isLastReply(operation: Operation | undefined, reply: ReplyBody | undefined): boolean {
  if (reply?.$case === 'error') return true
  if (operation === 'stream') return reply?.$case === 'stream' && reply.value.event?.$case === 'end'
  return !isEndless(operation)
}

/** Whether the replies to the operation continue until the client disconnects. */
export function isEndless(operation: Operation | undefined): boolean {
  return operation !== undefined && ENDLESS.has(operation)
}

/** The body of a request for an operation. */
export type RequestOf<O extends Operation> = Extract<RequestBody, { $case: O }>['value']

/**
 * The value of one reply to an operation. `Awaited` tells the compiler that it is never a promise, which it
 * cannot infer while `O` is generic.
 */
export type ReplyOf<O extends Operation> = Awaited<
  Extract<ReplyBody, { $case: (typeof REPLIES)[O] }>['value']
>

const ENDLESS: ReadonlySet<Operation> = new Set<Exclude<StreamOperation, 'stream'>>([
  'subscribeEvents',
  'subscribeMcpEvents',
  'attach',
  'mcpTrace',
])
