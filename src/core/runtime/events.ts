import type { CrabError } from '../base/errors.ts'
import type { ToolCall, Usage } from '../base/message.ts'

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

/**
 * What happens in a turn, in the order of wire.md: `start`, then per model call
 * `[thinking…] [text…]`, `tool-start`, `tool-result`s in completion order, `tools-complete`, `usage`; at last `end`.
 */
export type AgentEvent =
  | { type: 'start'; agent: string; runId: string; sessionId: string; model: string }
  | { type: 'text-start'; agent: string }
  | { type: 'text'; delta: string }
  | { type: 'text-end'; agent: string }
  | { type: 'thinking-start'; agent: string }
  | { type: 'thinking'; delta: string }
  | { type: 'thinking-end'; agent: string }
  | { type: 'tool-start'; calls: readonly ToolCall[] }
  | { type: 'tool-result'; callId: string; output: string; durationMs: number; isError: boolean }
  | { type: 'tools-complete' }
  | { type: 'usage'; usage: Usage }
  | { type: 'retry'; attempt: number; delayMs: number; error: CrabError }
  /** Something a person should know that is no failure: a dropped line, a fallback taken. */
  | { type: 'notice'; message: string }
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
