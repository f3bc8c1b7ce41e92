import type { ContextUsageEvent, ModelInfo, ToolResultEvent } from '../../core/protocol/crabtalk.generated.ts'
import type { AskCard } from '../cards/types.ts'
import type { Overlay } from '../overlays/types.ts'
import type { ModeName } from '../ports.ts'
import type { Prompt } from '../text/prompt.ts'

export type TokenUsage = NonNullable<ContextUsageEvent['usage']>
export type CallDenial = NonNullable<ToolResultEvent['denial']>

/** One tool call, from its start to its result. */
export interface ToolRun {
  callId: string
  name: string
  /** The MCP server it goes to; empty for a built-in tool. */
  server: string
  /** Complete JSON text, as the model wrote it. */
  arguments: string
  state: 'running' | 'done' | 'failed' | 'denied'
  /** What it last said of its progress. */
  progress: string
  output: string
  durationMs: number
  denial: CallDenial | undefined
  /** Unified diff, when a permission card has shown one. */
  diff: string
}

/**
 * A finished piece of the conversation: printed once into the terminal's scrollback, never again.
 *
 * Texts are as they came, not yet sanitised: view/ does that.
 */
export type Block =
  | { kind: 'welcome'; agent: string; model: string; cwd: string; version: string; hint: string }
  /** `heard`: another client of this conversation has sent it. */
  | { kind: 'user'; text: string; how: 'sent' | 'steered' | 'heard'; files: readonly string[] }
  /** A closed part of an answer in Markdown; `isFirst` begins the answer, `continues` goes on in the block before. */
  | { kind: 'answer'; agent: string; text: string; isFirst: boolean; continues: boolean }
  | { kind: 'thinking'; text: string; isFirst: boolean }
  | { kind: 'tool'; tool: ToolRun }
  | { kind: 'notice'; tone: Tone; text: string; hint?: string | undefined }
  /** What a slash command prints: a title, then lines, as a table when there are rows. */
  | { kind: 'output'; title: string; text?: string; rows?: readonly (readonly string[])[] }
  /** A question and how it was answered. */
  | { kind: 'answered'; question: string; answer: string }
  /** Earlier messages of the conversation begin, or end, here. */
  | { kind: 'rule'; text: string }

export type Tone = 'info' | 'success' | 'warning' | 'error'

/** A block with its place in the conversation; numbers only grow. */
export interface NumberedBlock {
  id: number
  block: Block
}

/** What grows now. `text` is what is not closed yet. */
export interface OpenText {
  kind: 'answer' | 'thinking'
  agent: string
  text: string
  /** Something of it was closed before. */
  hasBegun: boolean
  /** What is open goes on in the block before: a long fence, say. Opaque to all but view/split.ts. */
  carry: string
}

/** The turn that runs, whoever began it. */
export interface RunningTurn {
  /** Empty: a message of this chat, whose turn has not begun yet. */
  runId: string
  /** Milliseconds since 1970. */
  startedAt: number
  /** What it does, in a word or two: `thinking`, `writing`, `running bash`, `waiting for you`. */
  doing: string
  /** Output tokens so far, estimated from characters while they come. */
  outputTokens: number
  /** It has, or may have, said something that is no thinking. */
  hasAnswered: boolean
  isCancelling: boolean
}

/** Words for the running turn. */
export interface Steer {
  /** As typed. */
  text: string
  /** As sent: with the files it names. */
  content: string
}

/** Everything the screen shows. Replaced, never changed. */
export interface ChatState {
  agent: string
  sender: string
  /** Undefined before the first turn of a new conversation. */
  session: string | undefined
  title: string
  /** What the last compaction left; empty before the first. */
  summary: string
  /** The model of the last turn, or that the next one will use. */
  model: string
  /** A model chosen for this chat; undefined: the agent's. */
  chosenModel: string | undefined
  mode: ModeName
  thinking: boolean
  branch: string | undefined
  /** Where the agents run; undefined before that is known. */
  place: 'process' | 'daemon' | undefined
  /** The daemon is gone, and looked for. */
  isLinkLost: boolean
  models: readonly ModelInfo[]
  turn: RunningTurn | undefined
  /** Finished, waiting to be printed. */
  finished: readonly NumberedBlock[]
  nextId: number
  open: OpenText | undefined
  /** Calls of the running step that are not printed yet, in call order. */
  tools: readonly ToolRun[]
  /** Tool lines show what the tools gave. */
  details: boolean
  /** Questions that wait, of any conversation, oldest first; the first one of this conversation is on the screen as a card. */
  asks: readonly AskCard[]
  /** Sent to the running turn, not taken up yet. */
  steers: readonly Steer[]
  /** Steers that came back: they stand in the prompt when the turn has ended. */
  returned: readonly string[]
  /** Sent when this turn is over. */
  queue: readonly string[]
  prompt: Prompt
  overlay: Overlay | undefined
  /** Keys are for the overlay: it has been seen. */
  isOverlayArmed: boolean
  /** Something else has the terminal: an editor, the transcript. */
  isLent: boolean
  /** A command of the chat runs. */
  isCommanding: boolean
  usage: UsageTotals
  servers: ReadonlyMap<string, 'connecting' | 'connected' | 'failed' | 'disconnected'>
  /** Notices that were shown: each is news only once. */
  shownNotices: ReadonlySet<string>
  /** One dim line under the prompt, gone with the next key. */
  hint: string
  /** The newest lines of what a command line of the person's prints; empty when none runs. */
  shellSays: string
  /** The chat is being left: nothing is live any more. */
  isLeaving: boolean
}

/** What was taken since the conversation was opened, as far as it is known. */
export interface UsageTotals {
  /** Of the last model call: how full the context is. */
  last: TokenUsage | undefined
  /** Context window of the model, tokens; undefined while it is not known. */
  context: number | undefined
  /** Of all turns since then. */
  input: number
  output: number
  cacheRead: number
  cacheWrite: number
  /** US dollars; undefined once a turn's price was unknown. */
  usd: number | undefined
  turns: number
}
