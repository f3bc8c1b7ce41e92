import type { AskClosedEvent, AskInfo, StreamEvent } from '../../core/protocol/crabtalk.generated.ts'
import type { AskCard } from '../cards/types.ts'
import type { Block, ChatState, Steer, Tone } from './types.ts'

/** Something that happened; the only way the state changes. */
export type ChatAction =
  | { type: 'stream'; event: StreamEvent }
  /** A message goes out, the first of the queue perhaps; its block is printed. `files`: names of what goes along. */
  | { type: 'turn-begun'; text: string; files: readonly string[]; now: number }
  /** A turn has begun: that of the message that waits, or of another client, whose message is `said`. */
  | {
      type: 'turn-started'
      runId: string
      now: number
      said?: { text: string; files: readonly string[] } | undefined
      /** It was under way when this chat came to it: what it has said by then is not known. */
      isUnderWay?: boolean
    }
  /** The message of this chat still waits, now that another turn has ended. */
  | { type: 'turn-waits'; now: number }
  /** A turn of this chat could not begin. */
  | { type: 'turn-failed'; message: string; hint?: string | undefined }
  /** The chat no longer shows the turn; `text` says what became of it. Calls that run have failed unless it `goesOn`. */
  | { type: 'turn-left'; text: string; tone: Tone; goesOn?: boolean }
  | { type: 'turn-over' }
  | { type: 'cancelling'; isOff?: boolean }
  | ({ type: 'steered' } & Steer)
  /** A steer that found no turn any more. */
  | { type: 'steer-gone'; content: string }
  | { type: 'queued'; text: string }
  /** What waits for the turn's end goes back into the prompt. */
  | { type: 'queue-taken-back' }
  /** Closes what can be closed of the open text; before a frame is drawn. */
  | { type: 'flush' }
  | { type: 'printed'; upto: number }
  | { type: 'print'; block: Block }
  | { type: 'ask-card'; card: AskCard }
  /** The questions that wait, as far as `of` tells: those that are not among them are closed. */
  | { type: 'asks-listed'; asks: readonly AskInfo[]; of: 'here' | 'elsewhere' }
  /** A question of any conversation. */
  | { type: 'ask-opened'; ask: AskInfo }
  | { type: 'ask-closed'; closed: AskClosedEvent }
  /** This chat answers it; `isOff`: the answer could not be given. */
  | { type: 'ask-answered'; askId: string; isOff?: boolean }
  /** It is not for this screen any more. */
  | { type: 'ask-put-aside'; askId: string }
  /** The overlay has been seen: keys are for it. */
  | { type: 'overlay-armed' }
  /** The overlay gets no keys until it has been seen again. */
  | { type: 'overlay-disarmed' }
  /** Keys may choose on the card of that question; undefined: on none. */
  | { type: 'card-armed'; askId: string | undefined }
  /** The terminal is given away, or comes back. */
  | { type: 'lent'; isLent: boolean }
  /** The chat is about another conversation from now on. */
  | {
      type: 'conversation'
      agent: string
      sender: string
      session: string | undefined
      title: string
      summary?: string
    }
  /** Something a person chose, or that was found out. */
  | { type: 'set'; change: Partial<Settable> }

/** The parts of the state that are simply replaced. */
export type Settable = Pick<
  ChatState,
  | 'prompt'
  | 'overlay'
  | 'mode'
  | 'thinking'
  | 'details'
  | 'chosenModel'
  | 'model'
  | 'models'
  | 'branch'
  | 'place'
  | 'isLinkLost'
  | 'title'
  | 'summary'
  | 'usage'
  | 'hint'
  | 'shellSays'
  | 'isLeaving'
  | 'isCommanding'
>
