import type { StreamEvent } from '../../core/protocol/crabtalk.generated.ts'
import type { AskCard } from '../cards/types.ts'
import type { Block, ChatState, Steer } from './types.ts'

/** Something that happened; the only way the state changes. */
export type Action =
  | { type: 'stream'; event: StreamEvent }
  /** A message goes out, the first of the queue perhaps; its block is printed. `files`: names of what goes along. */
  | { type: 'turn-begun'; text: string; files: readonly string[]; now: number }
  /** The turn could not begin, or its events stopped before the end. */
  | { type: 'turn-failed'; message: string; hint?: string | undefined }
  | { type: 'turn-over' }
  | { type: 'cancelling' }
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
  /** What stands there has been seen: keys are for it. */
  | { type: 'armed' }
  /** What stands there gets no keys until it has been seen again. */
  | { type: 'disarmed' }
  /** The terminal is given away, or comes back. */
  | { type: 'lent'; isLent: boolean }
  /** The chat is about another conversation from now on. */
  | { type: 'conversation'; agent: string; sender: string; session: string | undefined; title: string }
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
  | 'title'
  | 'usage'
  | 'hint'
  | 'isLeaving'
  | 'isCommanding'
>
