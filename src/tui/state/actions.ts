import type { AskClosedEvent, AskInfo, StreamEvent } from '../../core/protocol/crabtalk.generated.ts'
import type { AskCard } from '../cards/types.ts'
import type { Block, Tone } from '../view/blocks.ts'
import type { ChatState, ChosenModel, OtherRun } from './types.ts'

/** An event that changes the state; nothing else does. */
export type ChatAction =
  /** An event of the running turn; `now` in milliseconds since 1970. */
  | { type: 'stream'; event: StreamEvent; now?: number }
  /**
   * A message is sent, possibly the first of the queue, and its block is printed. `files` are the names of
   * the attached files.
   */
  | { type: 'message-sent'; text: string; files: readonly string[]; now: number }
  /** A turn has started: the turn of the waiting message, or one of another client, whose message is `received`. */
  | {
      type: 'turn-started'
      runId: string
      now: number
      received?: { text: string; files: readonly string[] } | undefined
      /** The turn was already running when this chat joined it, so its earlier output is not known. */
      isUnderWay?: boolean
      /** `now` is the time at which this chat joined it, because its start is not known. */
      isPartial?: boolean
    }
  /** Another turn has ended, and the message of this chat is still waiting. */
  | { type: 'turn-waits'; now: number }
  /** A turn of this chat could not start. */
  | { type: 'turn-failed'; message: string; hint?: string | undefined }
  /**
   * The chat no longer shows the turn; `text` says why. Running calls count as failed unless the turn
   * `keepsRunning`.
   */
  | { type: 'turn-detached'; text: string; tone: Tone; keepsRunning?: boolean }
  | { type: 'turn-over' }
  | { type: 'cancelling'; isReverted?: boolean }
  /** A message for the running turn is prepared: the files it names are read. */
  | { type: 'steering'; text: string }
  | { type: 'steered'; text: string; content: string }
  /** A steer could not be one, or was sent after its turn had ended. */
  | { type: 'steer-gone'; text: string }
  | { type: 'queued'; text: string }
  /** Replaces the queued messages. */
  | { type: 'queue-changed'; queue: readonly string[] }
  /** The queued messages go back into the prompt. */
  | { type: 'queue-taken-back' }
  /** Closes the finished parts of the open text before a frame is drawn. */
  | { type: 'flush' }
  | { type: 'printed'; upto: number }
  | { type: 'print'; block: Block }
  /**
   * Everything that the welcome names is known. It is printed, because a terminal that gets narrower may move rows of
   * the live region into its scrollback, where they cannot be erased.
   */
  | { type: 'welcome-known' }
  | { type: 'ask-card'; card: AskCard }
  /**
   * The pending questions of the shown conversation (`here`) or of all others (`elsewhere`). Questions in
   * that scope that are not listed are closed.
   */
  | { type: 'asks-listed'; asks: readonly AskInfo[]; of: 'here' | 'elsewhere' }
  /** A question of any conversation. */
  | { type: 'ask-opened'; ask: AskInfo }
  | { type: 'ask-closed'; closed: AskClosedEvent }
  /** All running turns; earlier ones that are not listed have ended. */
  | { type: 'running-listed'; running: readonly OtherRun[] }
  | { type: 'run-started'; run: OtherRun }
  | { type: 'run-ended'; runId: string }
  /**
   * This chat answers the question. `isReverted` means the answer could not be delivered. `arguments` are those
   * that the user gave the call.
   */
  | { type: 'ask-answered'; askId: string; isReverted?: boolean; arguments?: string }
  /** The question is removed from this screen without an answer. */
  | { type: 'ask-put-aside'; askId: string }
  /** The overlay has been drawn and now gets the keys. */
  | { type: 'overlay-armed' }
  /** The overlay gets no keys until it has been drawn again. */
  | { type: 'overlay-disarmed' }
  /** Keys may choose options on the card of this question; undefined: on no card. */
  | { type: 'card-armed'; askId: string | undefined }
  /** The visible card has changed or was covered: Enter that was pressed too early no longer counts. */
  | { type: 'card-unseen' }
  /** The terminal is lent, or returned. */
  | { type: 'lent'; isLent: boolean }
  /** The chat switches to another conversation. */
  | {
      type: 'conversation'
      agent: string
      sender: string
      session: string | undefined
      title: string
      summary?: string
      /** Its size after the last turn, as the provider counted it. */
      tokens?: number | undefined
      /** The choice that it stores; empty: none. */
      model?: string
      effort?: string
      /** Whether the chat starts with it. */
      isFirst?: boolean
    }
  /** A model and an effort apply from the next message on. */
  | ({ type: 'choice'; scope: ChatState['choiceScope'] } & ChosenModel)
  /** The model and effort that apply where nothing is chosen, and the models of this machine. */
  | { type: 'usual'; usual: ChatState['usual']; models: ChatState['models'] }
  /** Replaces parts of the state with what the user chose or what was loaded. */
  | { type: 'set'; change: Partial<Settable> }

/** The parts of the state that are replaced without further logic. */
export type Settable = Pick<
  ChatState,
  | 'prompt'
  | 'overlay'
  | 'mode'
  | 'chosenMode'
  | 'usualMode'
  | 'thinking'
  | 'details'
  | 'effort'
  | 'model'
  | 'models'
  | 'branch'
  | 'place'
  | 'isLinkLost'
  | 'followers'
  | 'title'
  | 'summary'
  | 'usage'
  | 'hint'
  | 'shellOutput'
  | 'isLeaving'
  | 'isCommanding'
  | 'servers'
  | 'roots'
  | 'isFullscreen'
  | 'settings'
  | 'terminalColors'
>
