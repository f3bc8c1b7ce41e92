import { PERMISSION_ANSWERS } from '../../core/base/permission-answers.ts'
import type { AskUserEvent } from '../../core/protocol/crabtalk.generated.ts'
import { listPermissionChoices, NO_DIGIT } from '../../core/questions/choices.ts'
import { toDenialAnswer } from '../../core/questions/permission-answer.ts'
import { findEscAction } from '../text/esc-key.ts'
import type { KeyPress } from '../text/key.ts'
import { getContentWindow, type Permission } from './permission-view.ts'
import { type CardSelection, newSelection, pressSelection } from './selection.ts'
import type { AskCard, CardKeyResult, CardView, PermissionState } from './types.ts'

/** Creates the state of a new permission card, with No selected. */
export function newPermission(card: { ask: AskUserEvent }): PermissionState {
  return {
    kind: 'permission',
    pick: initialSelection(card),
    scroll: 0,
    seen: { columns: 0, rows: 0 },
    hasDetails: false,
    isWriting: false,
  }
}

/**
 * Handles a key on a permission card while the composer is empty. Only Enter on a choice that the user has
 * selected allows the call.
 */
export function pressPermission(permission: Permission, key: KeyPress, view: CardView): CardKeyResult {
  const { card, state } = permission
  const { pick, hasDetails } = state
  const { isArmed } = card
  if (key.name === 'text' && key.text === '?' && isArmed && !key.ctrl && !key.alt) {
    return set(card, {
      hasDetails: !hasDetails,
      scroll: 0,
      seen: NOTHING_SEEN,
      pick: { ...pick, typed: '?' },
    })
  }
  const escaped = key.name === 'escape' ? escapePermission(permission) : undefined
  if (escaped) return escaped
  const choices = listPermissionChoices(card.ask.questions[0]!)
  const first = initialSelection(card)
  const digits = choices.map(({ digit }) => digit)
  const picked = pressSelection(pick, key, { digits, first: first.at, isArmed })
  if (picked.type === 'moved') {
    return { ...set(card, { pick: picked.pick }), ...(picked.hint && { hint: picked.hint }) }
  }
  if (picked.type === 'chosen') return choose(permission, view)
  return { ...set(card, { pick: first }), rest: picked.keys, ...(picked.hint && { hint: picked.hint }) }
}

/** Applies Esc; undefined when the card does not use it. */
function escapePermission({ card, state }: Permission): CardKeyResult | undefined {
  switch (findEscAction({ card: { ...card, state } })) {
    case 'hide-details':
      return set(card, { hasDetails: false, scroll: 0, seen: NOTHING_SEEN })
    case 'decline':
      return answerPermission(card, PERMISSION_ANSWERS.no)
    case 'clear-selection':
      return set(card, { pick: initialSelection(card) })
    default:
      return undefined
  }
}

/** Scrolls by a page; rows that were visible before count as seen. */
export function scrollPermission(permission: Permission, direction: -1 | 1, view: CardView): CardKeyResult {
  const { card } = permission
  const { start, end, total, seen } = getContentWindow(permission, view)
  const page = Math.max(1, end - start - countRepeatedRows(end - start))
  const most = Math.max(0, total - (end - start))
  const scroll = Math.max(0, Math.min(most, start + direction * page))
  return set(card, { scroll, seen: { columns: view.columns, rows: seen } })
}

/** Denies the call with the user's reason. The reason can never act as an answer that allows. */
export function answerWithReason(card: AskCard, reason: string): CardKeyResult {
  return answerPermission(card, toDenialAnswer(reason))
}

/**
 * Takes the selected choice. A choice that allows the call scrolls on instead until all content was on the
 * screen.
 */
function choose(permission: Permission, view: CardView): CardKeyResult {
  const { card, state } = permission
  const { does } = listPermissionChoices(card.ask.questions[0]!)[state.pick.at]!
  if (does === 'reason') return set(card, { isWriting: true, pick: initialSelection(card) })
  if (does.answer === PERMISSION_ANSWERS.no) return answerPermission(card, does.answer)
  const { start, end, total, seen } = getContentWindow(permission, view)
  if (seen >= total) return answerPermission(card, does.answer)
  const scroll = Math.max(0, Math.min(total - (end - start), seen - countRepeatedRows(end - start)))
  return set(card, { seen: { columns: view.columns, rows: seen }, scroll })
}

/** Returns how many rows of a page the next one shows again; short pages have no row to spare. */
function countRepeatedRows(height: number): number {
  return height >= TALL_PAGE ? 1 : 0
}

const TALL_PAGE = 6
const NOTHING_SEEN = { columns: 0, rows: 0 }

function initialSelection({ ask }: { ask: AskUserEvent }): CardSelection {
  return newSelection(listPermissionChoices(ask.questions[0]!).findIndex(({ digit }) => digit === NO_DIGIT))
}

function set(card: AskCard, change: Partial<PermissionState>): CardKeyResult {
  const state = { ...(card.state as PermissionState), ...change }
  return { state: { ...card, state }, effects: [], rest: [] }
}

/** Sends the answer. A card is answered only once: its keys do nothing afterwards. */
function answerPermission(card: AskCard, text: string): CardKeyResult {
  const question = card.ask.questions[0]!.question
  const effect = { type: 'answer', askId: card.askId, answers: { [question]: text } } as const
  const { state } = set(card, { pick: initialSelection(card), isWriting: false })
  return { state: { ...state, isArmed: false, isAnswered: true }, effects: [effect], rest: [] }
}
