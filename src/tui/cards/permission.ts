import { PERMISSION_ANSWERS } from '../../core/base/permission-answers.ts'
import { PLAN_ANSWERS } from '../../core/base/plan-answers.ts'
import type { AskUserEvent } from '../../core/protocol/crabtalk.generated.ts'
import { NO_DIGIT } from '../../core/questions/choices.ts'
import { findEditableText } from '../../core/questions/edit-call.ts'
import { toDenialAnswer } from '../../core/questions/permission-answer.ts'
import { toChangesAnswer } from '../../core/questions/plan-choices.ts'
import { findEscAction } from '../text/esc-key.ts'
import type { KeyPress } from '../text/key.ts'
import { getContentWindow, isAllowing, listChoices, type Permission } from './permission-view.ts'
import { toScrollPosition } from './rows.ts'
import { type CardSelection, newSelection, pressSelection } from './selection.ts'
import type { AskCard, CardKeyResult, CardScroll, CardView, PermissionState } from './types.ts'

/** Creates the state of a new permission card, with No selected. */
export function newPermission(card: { ask: AskUserEvent }): PermissionState {
  return {
    kind: 'permission',
    pick: initialSelection(card),
    scroll: 0,
    seen: { columns: 0, rows: 0 },
    hasDetails: false,
    isWriting: false,
    isEditing: false,
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
  const isPermission = card.ask.permission !== undefined // a plan has no details
  if (
    isPermission &&
    key.name === 'text' &&
    key.text === '?' &&
    isArmed &&
    pick.typed === '' &&
    !key.ctrl &&
    !key.alt
  ) {
    return set(card, withDetails(state, !hasDetails))
  }
  const isTab = key.name === 'tab' && !key.shift && !key.ctrl && !key.alt
  if (isTab && (isArmed || (card.wasArmed && pick.by !== 'card'))) return editCall(permission, key, view)
  const escaped = key.name === 'escape' ? escapePermission(permission) : undefined
  if (escaped) return escaped
  const first = initialSelection(card)
  const digits = listPermissionDigits(card)
  const choice = listChoices(card.ask)[pick.at]!
  const isEnter = key.name === 'enter' && !key.shift && !key.ctrl && !key.alt
  const isPaging = isEnter && !isArmed && pick.by === 'digit' && isAllowing(choice)
  const next = isPaging ? scrollToUnseen(permission, view) : undefined // reading on needs no pause
  if (next) return next
  const picked = pressSelection(pick, key, {
    digits,
    first: first.at,
    isArmed,
    isLasting: choice.lasts !== undefined,
  })
  if (picked.type === 'moved') {
    return { ...set(card, { pick: picked.pick }), ...(picked.hint && { hint: picked.hint }) }
  }
  if (picked.type === 'chosen') return choose(permission, view)
  const reset = pick.by === 'card' ? { state: card, effects: [] } : set(card, { pick: first })
  return { ...reset, rest: picked.keys, ...(picked.hint && { hint: picked.hint }) }
}

function noAnswer({ ask }: AskCard): string {
  return ask.permission === undefined ? PLAN_ANSWERS.no : PERMISSION_ANSWERS.no
}

/** Lists the digits of the choices, in screen order. */
export function listPermissionDigits({ ask }: { ask: AskUserEvent }): readonly number[] {
  return listChoices(ask).map(({ digit }) => digit)
}

/** Shows or hides the details. The content is then different, so it must be seen again. */
export function withDetails(state: PermissionState, hasDetails: boolean): PermissionState {
  return { ...state, hasDetails, scroll: 0, seen: NOTHING_SEEN }
}

/** Puts the call into the composer to be changed; content that was not on the screen yet is shown first. */
function editCall(permission: Permission, key: KeyPress, view: CardView): CardKeyResult {
  const { card, request } = permission
  const editable = request && findEditableText(request)
  if (!editable) return { state: card, effects: [], rest: [key] }
  const unseen = scrollToUnseen(permission, view)
  if (unseen) return unseen
  const { state } = set(card, { isWriting: true, isEditing: true, pick: initialSelection(card) })
  return { state, effects: [{ type: 'insert', text: editable.text }], rest: [] }
}

/**
 * Lets the changed call run. Enter counts only after a pause, as on the choices; the call must still be
 * valid.
 */
function runEdited(card: AskCard, text: string): CardKeyResult {
  const { permission } = card.ask
  const editable = permission && findEditableText(permission)
  if (!card.isArmed) return { ...set(card, {}), hint: 'Press Enter again to run it' }
  const args = editable?.toArguments(text)
  if (args === undefined)
    return { ...set(card, {}), hint: 'This is not a JSON object: correct it, or press Esc' }
  return answerPermission(card, PERMISSION_ANSWERS.once, text === editable?.text ? undefined : args)
}

/** Applies Esc; undefined when the card does not use it. */
function escapePermission({ card, state }: Permission): CardKeyResult | undefined {
  switch (findEscAction({ card: { ...card, state } })) {
    case 'decline':
      return answerPermission(card, noAnswer(card))
    case 'clear-selection':
      return set(card, { pick: initialSelection(card) })
    default:
      return undefined
  }
}

/** Scrolls by a page, or to an end; rows that were visible count as seen, those that End skips do not. */
export function scrollPermission(permission: Permission, to: CardScroll, view: CardView): CardKeyResult {
  const { card } = permission
  const { start, end, total, seen } = getContentWindow(permission, view)
  const page = Math.max(1, end - start - countRepeatedRows(end - start))
  const most = Math.max(0, total - (end - start))
  const scroll = toScrollPosition(to, { start, most, page })
  return set(card, { scroll, seen: { columns: view.columns, rows: seen } })
}

/** Denies the call with the user's reason, or asks for changes to a plan. The text never acts as an answer that allows. */
export function answerWithReason(card: AskCard, reason: string): CardKeyResult {
  if ((card.state as PermissionState).isEditing) return runEdited(card, reason)
  const isPlan = card.ask.permission === undefined
  return answerPermission(card, isPlan ? toChangesAnswer(reason) : toDenialAnswer(reason))
}

/**
 * Takes the selected choice. A choice that allows the call scrolls on instead until all content was on the
 * screen.
 */
function choose(permission: Permission, view: CardView): CardKeyResult {
  const { card, state } = permission
  const { digit, does } = listChoices(card.ask)[state.pick.at]!
  if (does === 'reason') return set(card, { isWriting: true, pick: initialSelection(card) })
  if (digit === NO_DIGIT) return answerPermission(card, does.answer)
  return scrollToUnseen(permission, view) ?? answerPermission(card, does.answer)
}

/** Scrolls to the first content that was not on the screen yet; undefined when all of it was. */
function scrollToUnseen(permission: Permission, view: CardView): CardKeyResult | undefined {
  const { start, end, total, seen } = getContentWindow(permission, view)
  if (seen >= total) return undefined
  const scroll = Math.max(0, Math.min(total - (end - start), seen - countRepeatedRows(end - start)))
  const pick = { ...permission.state.pick, isEntered: false }
  return set(permission.card, { pick, seen: { columns: view.columns, rows: seen }, scroll })
}

/** Returns how many rows of a page the next one shows again; short pages have no row to spare. */
function countRepeatedRows(height: number): number {
  return height >= TALL_PAGE ? 1 : 0
}

const TALL_PAGE = 6
const NOTHING_SEEN = { columns: 0, rows: 0 }

function initialSelection({ ask }: { ask: AskUserEvent }): CardSelection {
  return newSelection(listChoices(ask).findIndex(({ digit }) => digit === NO_DIGIT))
}

function set(card: AskCard, change: Partial<PermissionState>): CardKeyResult {
  const state = { ...(card.state as PermissionState), ...change }
  return { state: { ...card, state }, effects: [], rest: [] }
}

/** Sends the answer. A card is answered only once: its keys do nothing afterwards. */
function answerPermission(card: AskCard, text: string, args?: string): CardKeyResult {
  const question = card.ask.questions[0]!.question
  const changed = args === undefined ? {} : { arguments: args }
  const effect = { type: 'answer', askId: card.askId, answers: { [question]: text }, ...changed } as const
  const { state } = set(card, { pick: initialSelection(card), isWriting: false, isEditing: false })
  return { state: { ...state, isArmed: false, isAnswered: true }, effects: [effect], rest: [] }
}
