import type { AskUserEvent } from '../../core/protocol/crabtalk.generated.ts'
import type { Remember } from '../view/remember.ts'
import type { Line } from './line.ts'

/** A question on the screen and how far its answer has come. Replaced, never changed. */
export interface AskCard {
  askId: string
  /** Who asks, as it is shown. */
  agent: string
  /** The conversation it is asked in. */
  pair: { agent: string; sender: string }
  /** This chat has answered it, and waits to hear that it is closed. */
  isAnswered: boolean
  ask: AskUserEvent
  /** Its keys count: it has stood there long enough to be seen. Until then keys are for the prompt. */
  isArmed: boolean
  state: CardState
  /** What is asked, laid out: the same for every state of the card. */
  content: Remember<CardContent>
}

/** What a permission card quotes, as rows, and what it says about it. */
export interface CardContent {
  body: readonly string[]
  facts: readonly string[]
}

export type CardState = PermissionState | FormState

/** How far a permission has come. */
export interface PermissionState {
  kind: 'permission'
  /** The choice the arrows stand on; -1 before they are used. */
  selected: number
  /** Rows that are scrolled away at the top. */
  scroll: number
  /** Everything is shown, with what the keys do. */
  isWhole: boolean
  /** What is typed under N; undefined before. */
  reason: Line | undefined
}

/** How far a form of one or several questions has come. */
export interface FormState {
  kind: 'form'
  /** The question that is shown; behind the last one, where there are several, the review of all. */
  tab: number
  /** Rows scrolled away by hand; undefined: as far as the row the arrows stand on needs it. */
  scroll: number | undefined
  /** One for each question. */
  fields: readonly Field[]
}

/** One question of a form. */
export interface Field {
  /** The row the arrows stand on: an option, or behind the last one a person's own words. */
  cursor: number
  /** Of a question with several answers: the options that are marked. */
  marked: readonly number[]
  /** A person's own words. */
  text: Line
  /** As it is sent; undefined before it was given. */
  answer: string | undefined
}
