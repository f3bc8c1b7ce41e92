import type { Effort } from '../base/effort.ts'
import type { CrabError } from '../base/errors.ts'
import type { ToolCall, Usage } from '../base/message.ts'
import type { FailedAttempt } from '../provider/types.ts'
import type { RemoteNames } from '../storage/types.ts'
import type { Ask, AskAnswers, Denial } from './asks.ts'

/** The reason a turn ended. */
export type StopReason =
  | 'stop'
  | 'length'
  | 'refused'
  | 'max_turns'
  | 'max_cost'
  | 'cancelled'
  | 'failed'
  | 'other'

/** A warning for the client of a turn, such as a dropped line or a fallback. */
interface Notice {
  type: 'notice'
  message: string
  /** The MCP server that the notice is about. */
  server?: string
  /** Whether the notice no longer matters once the turn is over. */
  passing?: boolean
  /** Set when the notice is about the conversation itself and names no files or servers. */
  isOwn?: true
}

/**
 * The events of a turn, in this order: `start`, then per model call `[thinking…] [text…]`, `tool-start`,
 * `tool-result`s in completion order, `tools-complete`, `usage`; finally `end`. `user-steered` events come
 * before a model call, `steer-returned` events directly before `end`: each message that steers the turn is
 * reported once. Questions, progress, notices and server states can come at any time.
 */
export type AgentEvent =
  | ({ type: 'start' } & TurnStart)
  | { type: 'text-start'; agent: string }
  | { type: 'text'; delta: string }
  | { type: 'text-end'; agent: string }
  | { type: 'thinking-start'; agent: string }
  | { type: 'thinking'; delta: string }
  | { type: 'thinking-end'; agent: string }
  /** `server` is the MCP server that a call goes to, `tool` the server's own name for the tool. */
  | { type: 'tool-start'; calls: readonly (ToolCall & RemoteNames)[] }
  | { type: 'tool-progress'; callId: string; message: string; progress?: number; total?: number }
  /** The turn waits for a person. */
  | { type: 'ask'; ask: Ask }
  /** `by` is the sender who answered, `timeout` or `cancelled`. */
  | { type: 'ask-closed'; askId: string; by: string; answers: AskAnswers | undefined }
  | {
      type: 'tool-result'
      callId: string
      output: string
      durationMs: number
      isError: boolean
      /** The unified diff of a changed file, unless a question has shown it. */
      diff?: string
      denial?: Denial
    }
  | { type: 'tools-complete' }
  /** The usage of the model call that just ended; `context` is the model's window in tokens, if known. */
  | { type: 'usage'; usage: Usage; context?: number }
  /** A steering message is stored, as it was typed; the next model call reads it. */
  | { type: 'user-steered'; content: string }
  /** A steering message that came too late for the turn and is not stored. */
  | { type: 'steer-returned'; content: string }
  /**
   * The conversation is compacted before the next model call. `before` and `after` are the estimated tokens of
   * that request, `context` is the model's window. A failure does not end the turn.
   */
  | ({ type: 'compaction'; before: number; context: number | undefined } & (
      | { state: 'started' }
      | { state: 'done'; after: number; archive: string }
      | { state: 'failed'; error: CrabError }
    ))
  /**
   * A model call failed and is repeated. When its answer broke off, `discardedTexts` is how many of the last
   * texts are void: the next attempt begins the answer again.
   */
  | (Omit<FailedAttempt, 'discards'> & { discardedTexts?: number })
  | Notice
  | { type: 'mcp-state'; server: McpServerEvent }
  | {
      type: 'end'
      agent: string
      model: string
      usage: Usage | undefined
      turns: number
      stopReason: StopReason
      costUsd: number | undefined
      error: CrabError | undefined
    }

/** The facts about a turn that are known when it begins. */
export interface TurnStart {
  /** The agent that speaks: the agent of the conversation, or its guest. */
  agent: string
  /** The agent of the conversation. */
  primary: { id: string; name: string }
  runId: string
  sessionId: string
  model: string
  /** The reasoning effort that is requested; absent: the provider's default. */
  effort?: Effort
  /** The line of the user's message in the session; 0 when it is not stored. */
  line: number
}

/** A change in the state of a connection to an MCP server, reported once for each of its owners. */
export interface McpServerEvent {
  kind: 'connecting' | 'connected' | 'failed' | 'disconnected'
  agent: string
  /** The owner's name for the server. */
  name: string
  fingerprint: string
  owners: readonly { agent: string; name: string; file?: string | undefined }[]
  /** The server's own names, when connected. */
  tools: readonly string[]
  /** The first line of the failure; otherwise empty. */
  error: string
  /** Milliseconds since 1970. */
  at: number
}
