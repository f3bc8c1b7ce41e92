import type { ContextUsageEvent, FileDiff, ToolResultEvent } from '../../core/protocol/crabtalk.generated.ts'

export type TokenUsage = NonNullable<ContextUsageEvent['usage']>
export type CallDenial = NonNullable<ToolResultEvent['denial']>

/** A tool call, from its start to its result. */
export interface ToolRun {
  callId: string
  name: string
  /** The MCP server that is called; empty for a built-in tool. */
  server: string
  /** Complete JSON text, as the model wrote it. */
  arguments: string
  /** A `skipped` call never ran, because the turn was cancelled first, or asked a question that got no answer. */
  state: 'running' | 'done' | 'failed' | 'denied' | 'skipped'
  /** The last progress message. */
  progress: string
  output: string
  durationMs: number
  denial: CallDenial | undefined
  /** The unified diff, when a permission card has shown one. */
  diff: string
}

/**
 * A finished piece of the conversation: printed once into the terminal's scrollback, never again.
 *
 * Texts are not sanitized yet; view/ does that.
 */
export type Block =
  | { kind: 'welcome'; agent: string; model: string; cwd: string; version: string; hint: string }
  /** `received`: another client of this conversation sent it. `pasted` are the parts that were not typed. */
  | {
      kind: 'user'
      text: string
      how: 'sent' | 'steered' | 'received'
      files: readonly string[]
      pasted?: readonly string[]
    }
  /**
   * A closed part of an answer, in Markdown. `isFirst` marks the start of the answer; with `continues` the
   * part belongs to the Markdown block of the previous part.
   */
  | { kind: 'answer'; agent: string; text: string; isFirst: boolean; continues: boolean }
  | { kind: 'thinking'; text: string; isFirst: boolean }
  /** A finished call. One that `follows` another call has no gap before it. */
  | { kind: 'tool'; tool: ToolRun; follows: boolean }
  /** Consecutive reads and searches, shown as a line for each kind of call. */
  | { kind: 'look-ups'; tools: readonly ToolRun[]; follows: boolean }
  | { kind: 'notice'; tone: Tone; text: string; hint?: string | undefined }
  /** The output of a slash command: a title, then a text, and a table when there are rows. */
  | { kind: 'output'; title: string; text?: string; rows?: readonly (readonly string[])[] }
  /** A question and how it was answered. */
  | { kind: 'answered'; question: string; answer: string }
  /** The end of a turn that took a while, in milliseconds, or cost something, in US dollars. */
  | { kind: 'turn-end'; ms?: number | undefined; usd?: number | undefined }
  /** The change of a file, in a viewer. */
  | { kind: 'file-diff'; file: FileDiff }
  /**
   * A line at the beginning or end of earlier messages of the conversation; with `isCut`, messages are left out,
   * which the transcript shows.
   */
  | { kind: 'rule'; text: string; isCut?: boolean }

/** The tone of a notice, which decides its mark and color. */
export type Tone = 'info' | 'success' | 'warning' | 'error'

/** A block with its number in the conversation; numbers only increase. */
export interface NumberedBlock {
  id: number
  block: Block
}

/** The text that is streaming; `text` is the part that is not closed yet. */
export interface OpenText {
  kind: 'answer' | 'thinking'
  agent: string
  text: string
  /** Whether an earlier part of it has been closed. */
  hasClosedParts: boolean
  /** Whether the model broke off and is asked again: its next answer takes the place of this text. */
  isVoid?: boolean
  /**
   * The Markdown state carried over from the closed parts, such as an open code fence. Opaque except to
   * view/markdown/split.ts.
   */
  carry: string
}
