import type { AskUserEvent } from '../../core/protocol/crabtalk.generated.ts'
import type { ChatEffect } from '../text/effects.ts'
import type { KeyPress } from '../text/key.ts'
import type { Memoize } from '../view/memoize-last.ts'
import type { Face, RenderContext } from '../view/view.ts'
import type { CardSelection } from './selection.ts'

/** A question on the screen and the state of its answer. Replaced, never mutated. */
export interface AskCard {
  askId: string
  /** The agent that asks. */
  agent: string
  /** The conversation of the question. */
  pair: { agent: string; sender: string }
  /** Whether this chat has answered it and waits for the event that closes it. */
  isAnswered: boolean
  ask: AskUserEvent
  /** Whether keys may choose: the card was on the screen for a second, and no key was pressed for 600 ms. */
  isArmed: boolean
  /** Whether it has been armed before, so that the user has seen it. */
  wasArmed: boolean
  state: CardState
  /** Memoises the content rows across states of the card. */
  content: Memoize<CardContent>
}

/** The content rows of a permission card. */
export interface CardContent {
  rows: readonly string[]
}

export type CardState = PermissionState | FormState

/** The state of a card with fixed choices: a permission, or a plan. */
export interface PermissionState {
  kind: 'permission'
  pick: CardSelection
  /** The number of rows scrolled off the top. */
  scroll: number
  /** The number of content rows that have been visible, counted from the first, at that terminal width. */
  seen: { columns: number; rows: number }
  /** Whether all arguments are shown, and what the choices do. */
  hasDetails: boolean
  /** Whether the next message is the reason for a denial, or what to change in a plan, or the edited call. */
  isWriting: boolean
  /** Whether the composer has the call, which the user changes. */
  isEditing: boolean
}

/** The state of a form with one or more questions. */
export interface FormState {
  kind: 'form'
  /** The index of the current question. With several questions, the index after the last one is the review. */
  tab: number
  pick: CardSelection
  /** The rows the user has scrolled; undefined: scroll to the selected row. */
  scroll: number | undefined
  /** Whether the next message is the answer to the current question. */
  isWriting: boolean
  /** One field for each question. */
  fields: readonly CardField[]
}

/** The answer to one question of a form. */
export interface CardField {
  /** The marked options of a question that allows several answers. */
  marked: readonly number[]
  /** The user's own words; empty for none. */
  ownText: string
  /** The answer as it will be sent; undefined until the user has given it. */
  answer: string | undefined
}

/** The terminal and composer as a card sees them. */
export interface CardView extends Face, Pick<RenderContext, 'parse' | 'highlight'> {
  /** The number of lines of the composer below, including its open menu. */
  promptRows: number
  /** Whether the composer is empty: digits, arrows and Enter then go to the card. */
  isFree: boolean
  /** The directory in which the call would run, for display; empty: not shown. */
  directory: string
}

/** The target of scrolling a card: a page up or down, or one of its ends. */
export type CardScroll = -1 | 1 | 'start' | 'end'

/** The result of a key on a card. */
export interface CardKeyResult {
  state: AskCard
  effects: readonly ChatEffect[]
  /** Keys that are passed on to the composer: those typed before, and this one. */
  rest: readonly KeyPress[]
  /** A hint for the user. */
  hint?: string
}
