import type { AskUserEvent } from '../../core/protocol/crabtalk.generated.ts'
import type { ChatEffect } from '../state/effects.ts'
import type { KeyPress } from '../text/key.ts'
import type { Memoize } from '../view/memoize-last.ts'
import type { Face } from '../view/view.ts'
import type { CardSelection } from './selection.ts'

/** A question on the screen and how far its answer has come. Replaced, never changed. */
export interface AskCard {
  askId: string
  /** The agent that asks. */
  agent: string
  /** The conversation it is asked in. */
  pair: { agent: string; sender: string }
  /** This chat has answered it, and waits to hear that it is closed. */
  isAnswered: boolean
  ask: AskUserEvent
  /** Keys may choose: the card has been on the screen for a second, and no key was pressed for 600 ms. */
  isArmed: boolean
  state: CardState
  /** The rows of what is asked: the same for every state of the card. */
  content: Memoize<CardContent>
}

/** What a permission card quotes, as rows, and what it says about it. */
export interface CardContent {
  rows: readonly string[]
}

export type CardState = PermissionState | FormState

/** How far a permission has come. */
export interface PermissionState {
  kind: 'permission'
  pick: CardSelection
  /** Rows that are scrolled away at the top. */
  scroll: number
  /** The rows that were on the screen, counted from the first one, in a terminal of that width. */
  seen: { columns: number; rows: number }
  /** All arguments are shown, with what the choices do. */
  hasDetails: boolean
  /** The next message is the reason for a no. */
  isWriting: boolean
}

/** How far a form of one or several questions has come. */
export interface FormState {
  kind: 'form'
  /** The question that is shown; behind the last one, where there are several, the review of all. */
  tab: number
  pick: CardSelection
  /** Rows scrolled away by hand; undefined: as far as the row with the mark needs it. */
  scroll: number | undefined
  /** The next message is the answer to the question that is shown. */
  isWriting: boolean
  /** One for each question. */
  fields: readonly CardField[]
}

/** One question of a form. */
export interface CardField {
  /** Of a question with several answers: the options that are marked. */
  marked: readonly number[]
  /** The person's own words; empty for none. */
  ownText: string
  /** As it is sent; undefined before it was given. */
  answer: string | undefined
}

/** The terminal as a card sees it. */
export interface CardView extends Face {
  /** Lines of the composer below it, with what is open there. */
  promptRows: number
  /** Nothing is typed in the composer: digits, arrows and Enter are for the card. */
  isFree: boolean
}

/** The result of a key on a card. */
export interface CardKeyResult {
  state: AskCard
  effects: readonly ChatEffect[]
  /** Keys that are not for the card, for the composer: what was typed before, and this one. */
  rest: readonly KeyPress[]
  /** A hint for the user. */
  hint?: string
}
