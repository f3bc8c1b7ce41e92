import type { ClientMessage, ServerMessage } from './crabtalk.generated.ts'

type RequestBody = NonNullable<ClientMessage['msg']>

/** A reply's case and value, without the envelope. */
export type ReplyBody = NonNullable<ServerMessage['msg']>

/** Everything a client can ask for, named as in the proto file. `get_config` is none: it is gone. */
export type Operation = Exclude<RequestBody['$case'], 'getConfig'>

/** The case of the replies to each operation; besides it, any operation may be answered by `error`. */
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
  extension: 'extension',
} as const satisfies Record<Operation, ReplyBody['$case']>

/** Operations that are answered by many replies; every other one by exactly one. */
export type StreamOperation = 'stream' | 'subscribeEvents' | 'subscribeMcpEvents' | 'attach' | 'mcpTrace'

/** Whether nothing follows this reply to that operation; an empty message counts as one that is answered once. */
export function isLastReply(operation: Operation | undefined, reply: ReplyBody | undefined): boolean {
  if (reply?.$case === 'error') return true
  if (operation === 'stream') return reply?.$case === 'stream' && reply.value.event?.$case === 'end'
  return !isEndless(operation)
}

/** Whether the replies to that operation go on until the client leaves. */
export function isEndless(operation: Operation | undefined): boolean {
  return operation !== undefined && ENDLESS.has(operation)
}

/** What an operation is asked with. */
export type RequestOf<O extends Operation> = Extract<RequestBody, { $case: O }>['value']

/** What one reply to an operation holds; never a promise, which the compiler cannot see while `O` is open. */
export type ReplyOf<O extends Operation> = Awaited<
  Extract<ReplyBody, { $case: (typeof REPLIES)[O] }>['value']
>

const ENDLESS: ReadonlySet<Operation> = new Set<Exclude<StreamOperation, 'stream'>>([
  'subscribeEvents',
  'subscribeMcpEvents',
  'attach',
  'mcpTrace',
])
