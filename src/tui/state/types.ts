import type { ChatSettings } from '../../core/base/chat-settings.ts'
import type { ModelInfo } from '../../core/protocol/crabtalk.generated.ts'
import type { AskCard } from '../cards/types.ts'
import type { Overlay } from '../overlays/types.ts'
import type { ModeName } from '../ports.ts'
import type { Prompt } from '../text/prompt-state.ts'
import type { NumberedBlock, OpenText, TokenUsage, ToolRun } from '../view/blocks.ts'
import type { TerminalColors } from '../view/palette.ts'

/** A model and a reasoning effort; an absent one is the agent's. */
export interface ChosenModel {
  model: string | undefined
  effort: string | undefined
}

/** The running turn, of this chat or of another client. */
export interface RunningTurn {
  /** Empty for a message of this chat whose turn has not started yet. */
  runId: string
  /** Milliseconds since 1970. */
  startedAt: number
  /** The current activity in a word or two, apart from questions: `thinking`, `writing`, `running bash`. */
  doing: string
  /** The output tokens so far, estimated from characters while streaming. */
  outputTokens: number
  /** Whether it has, or may have, produced text other than thinking. */
  hasAnswered: boolean
  isCancelling: boolean
  /** Its approval mode; undefined for a turn of another client. */
  mode?: ModeName | undefined
  /** Whether its start is not known: `startedAt` is the time at which this chat joined it. */
  isPartial?: boolean
  /** Whether a guest answers: its requests say nothing about the size of the conversation. */
  isGuest?: boolean
  /** Set while a model call that failed waits for its next attempt, until the model answers. */
  retry?: RetryWait
}

/** The wait of a model call that failed; times are in milliseconds since 1970. */
export interface RetryWait {
  /** The number of the next attempt, from 2. */
  attempt: number
  /** 0 when unknown. */
  maxAttempts: number
  /** The message of the last failure. */
  message: string
  /** The time of the next attempt. */
  until: number
  /** The time of the first failure. */
  since: number
  /** Whether a whole text was printed of an answer that broke off afterwards. */
  hasPrinted?: boolean
}

/** A message for the running turn. */
export interface Steer {
  /** The text as typed. */
  text: string
  /** The text as sent, with the files it names; undefined until those are read. */
  content: string | undefined
}

/** A running turn, of any conversation. */
export interface OtherRun {
  agent: string
  sender: string
  runId: string
  /** The name of its conversation; empty while unknown. */
  name: string
}

/** Everything the screen shows. Replaced, never mutated. */
export interface ChatState {
  agent: string
  sender: string
  /** Undefined before the first turn of a new conversation. */
  session: string | undefined
  title: string
  /** The summary of the last compaction; empty before the first. */
  summary: string
  /** The model of the last turn, or the one that the next turn will use. */
  model: string
  /** The model chosen for this conversation; undefined for the agent's own. */
  chosenModel: string | undefined
  /** The reasoning effort of the last turn, or the one that the next turn will use; empty: the provider's default. */
  effort: string
  /** The reasoning effort chosen for this conversation; undefined for the agent's own. */
  chosenEffort: string | undefined
  /**
   * The choice of model and effort is stored with the conversation, will be stored with its next message, or
   * exists in this window only, because the command line made it.
   */
  choiceScope: 'stored' | 'next-message' | 'window'
  /** The model, the effort and the additional directories of the command line. */
  launch: ChosenModel & { roots: readonly string[] }
  /** The model and effort of the agent, or else the defaults; empty while unknown. */
  usual: { model: string; effort: string }
  /** The approval mode of the next turn. */
  mode: ModeName
  /** The `[tui]` table of config.toml, with defaults. */
  settings: ChatSettings
  /** The colors that the terminal shows, as far as they are known. */
  terminalColors: TerminalColors
  /** The mode that the user chose; undefined for the one of the agent's file. */
  chosenMode: ModeName | undefined
  /** The mode of the agent's file; `ask` while it is unknown. */
  usualMode: ModeName
  thinking: boolean
  branch: string | undefined
  /** Added directories, absolute; rules treat their files like those of the working directory. */
  roots: readonly string[]
  /** The place where the agents run; undefined until that is known. */
  place: 'process' | 'daemon' | undefined
  /** The number of clients that follow this conversation, this window included; 0 while unknown. */
  followers: number
  /** The running turns of all conversations, as far as they are known. */
  running: readonly OtherRun[]
  /** The runs that this window has put into the background. */
  leftRuns: readonly string[]
  /** Whether the connection to the daemon is lost and being restored. */
  isLinkLost: boolean
  models: readonly ModelInfo[]
  turn: RunningTurn | undefined
  /** The facts of the welcome that is above everything else until the first block is printed. */
  welcome: { cwd: string; version: string } | undefined
  /** Whether nothing but the welcome was printed. */
  isWelcomeLast: boolean
  /** Blocks that are finished and wait to be printed. */
  finished: readonly NumberedBlock[]
  nextId: number
  /** Whether the last block is a call: the line of the next one follows it without a gap. */
  isAfterCall: boolean
  open: OpenText | undefined
  /** Calls of the running step that are not printed yet, in call order. */
  tools: readonly ToolRun[]
  /** Whether tool lines show the tools' output. */
  details: boolean
  /**
   * The pending questions of all conversations, oldest first. The first one of this conversation has a card
   * on the screen.
   */
  asks: readonly AskCard[]
  /** Steers sent to the running turn that it has not taken up yet. */
  steers: readonly Steer[]
  /** Steers that were returned; they go into the prompt when the turn has ended. */
  returned: readonly string[]
  /** Messages to send when this turn has ended. */
  queue: readonly string[]
  prompt: Prompt
  overlay: Overlay | undefined
  /** Whether the overlay gets the keys, because it has been drawn. */
  isOverlayArmed: boolean
  /** Whether something else, such as an editor or the transcript, has the terminal. */
  isLent: boolean
  /** Whether a slash command is running. */
  isCommanding: boolean
  usage: UsageTotals
  /** The agent's MCP servers that are not disabled, by name. */
  servers: ReadonlyMap<string, 'connecting' | 'connected' | 'failed' | 'disconnected'>
  /** Notices that were already shown: each is shown only once. */
  shownNotices: ReadonlySet<string>
  /** One dim line under the prompt, cleared by the next key. */
  hint: string
  /** The newest output lines of the user's shell command; empty when none is running. */
  shellOutput: string
  /** Whether the chat is on the alternate screen. */
  isFullscreen: boolean
  /** Whether the chat is being left: nothing is live any more. */
  isLeaving: boolean
}

/** The usage since the conversation was opened, as far as it is known. */
export interface UsageTotals {
  /** The usage of the last model call, which shows how full the context is. */
  last: TokenUsage | undefined
  /** The model's context window in tokens; undefined while unknown. */
  context: number | undefined
  /** The input tokens of all turns since then; the next three fields count the same way. */
  input: number
  output: number
  cacheRead: number
  cacheWrite: number
  /** US dollars; undefined once the price of a turn was unknown. */
  usd: number | undefined
  turns: number
  /** Whether the chat has warned that the context is nearly full. */
  isWarned?: boolean
}
