import type { CrabError } from '../base/errors.ts'
import type { ToolCall, Usage } from '../base/message.ts'
import type { RemoteNames } from '../storage/types.ts'
import type { Ask, AskAnswers, Denial } from './asks.ts'

/** Why a turn ended. */
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
  /** The MCP server that it is about. */
  server?: string
  /** Whether it does not matter any more once the turn is over. */
  passing?: boolean
  /** Whether it is about the conversation itself, and names no files and servers. */
  isOwn?: true
}

/**
 * What happens in a turn, in the order of wire.md: `start`, then per model call
 * `[thinking…] [text…]`, `tool-start`, `tool-result`s in completion order, `tools-complete`, `usage`; at last `end`.
 * Before a model call `user-steered`s, right before `end` `steer-returned`s: each thing said to a turn is told once.
 * Questions, progress, notices and server states come whenever they come.
 */
export type AgentEvent =
  | ({ type: 'start' } & TurnStart)
  | { type: 'text-start'; agent: string }
  | { type: 'text'; delta: string }
  | { type: 'text-end'; agent: string }
  | { type: 'thinking-start'; agent: string }
  | { type: 'thinking'; delta: string }
  | { type: 'thinking-end'; agent: string }
  /** `server` is the MCP server a call goes to, `tool` what that calls the tool. */
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
      denial?: Denial
    }
  | { type: 'tools-complete' }
  /** Of the model call that just ended; `context` is the model's window, tokens, if known. */
  | { type: 'usage'; usage: Usage; context?: number }
  /** What was said to the turn is stored, as it was typed; the next model call reads it. */
  | { type: 'user-steered'; content: string }
  /** What was said to the turn and it cannot take up any more; not stored. */
  | { type: 'steer-returned'; content: string }
  | { type: 'retry'; attempt: number; delayMs: number; error: CrabError }
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

/** What is known of a turn when it begins. */
export interface TurnStart {
  /** Who speaks: the agent of the conversation, or its guest. */
  agent: string
  /** The agent of the conversation. */
  primary: { id: string; name: string }
  runId: string
  sessionId: string
  model: string
  /** The user's message in the session; 0 where that is not stored. */
  line: number
}

/** A connection to an MCP server changed its state; told once for each of its owners. */
export interface McpServerEvent {
  kind: 'connecting' | 'connected' | 'failed' | 'disconnected'
  agent: string
  /** The owner's name for the server. */
  name: string
  fingerprint: string
  owners: readonly { agent: string; name: string }[]
  /** Remote names, when connected. */
  tools: readonly string[]
  /** The first line of why it failed; else empty. */
  error: string
  /** Milliseconds since 1970. */
  at: number
}
