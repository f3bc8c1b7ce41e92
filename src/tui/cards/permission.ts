import { PERMISSION_ANSWERS } from '../../core/base/permission-answers.ts'
import type { Effect, Pressed } from '../state/effects.ts'
import type { KeyPress } from '../text/key.ts'
import type { Room } from '../view/view.ts'
import { type Choice, choicesOf } from './choices.ts'
import { EMPTY_LINE, type Line, pressLine } from './line.ts'
import { denialOf } from './permission-answer.ts'
import { hasUnseen, type Permission, scrollRange } from './permission-view.ts'
import type { AskCard, PermissionState } from './types.ts'

export const NEW_PERMISSION: PermissionState = {
  kind: 'permission',
  selected: -1,
  scroll: 0,
  isWhole: false,
  reason: undefined,
}

/**
 * What a key does to a permission card.
 *
 * Where there is too little room to show what would be done, an answer that allows reads on instead, to its end.
 *
 * Only y, s, a, and Enter on one of them, allow: Enter alone allows nothing before the arrows, or itself, have put the
 * mark on a choice.
 */
export function pressPermission(permission: Permission, key: KeyPress, room: Room): Pressed<AskCard> {
  const { card, state } = permission
  if (state.reason) return pressReason(permission, state.reason, key)
  if (key.name === 'escape') return state.isWhole ? set(card, { isWhole: false, scroll: 0 }) : deny(card)
  if (key.ctrl) return key.text === 'd' ? deny(card) : set(card, {})
  if (key.name === 'text' && !key.alt) return pressLetter(permission, key.text, room)
  const choices = choicesOf(card.ask.questions[0]!)
  const step = STEPS.get(key.name === 'tab' && key.shift ? 'left' : key.name)
  if (step !== undefined) {
    const from = state.selected < 0 && step < 0 ? 0 : state.selected
    return set(card, { selected: (from + step + choices.length) % choices.length })
  }
  if (key.name === 'enter') {
    const choice = choices[state.selected]
    return choice ? choose(permission, choice, room) : set(card, { selected: 0 })
  }
  return scroll(permission, key.name, room)
}

const STEPS: ReadonlyMap<string, number> = new Map([
  ['up', -1],
  ['left', -1],
  ['down', 1],
  ['right', 1],
  ['tab', 1],
])

/** Upper case counts as lower case, but for N; several letters at once were not meant for a card. */
function pressLetter(permission: Permission, text: string, room: Room): Pressed<AskCard> {
  const choices = choicesOf(permission.card.ask.questions[0]!)
  const choice =
    choices.find(({ key }) => key === text) ?? choices.find(({ key }) => key === text.toLowerCase())
  return choice ? choose(permission, choice, room) : set(permission.card, {})
}

function choose(permission: Permission, { does }: Choice, room: Room): Pressed<AskCard> {
  const { card, state } = permission
  if (does === 'reason') return set(card, { reason: EMPTY_LINE })
  if (does === 'whole') return set(card, { isWhole: !state.isWhole, scroll: 0 })
  const allows = does.answer !== PERMISSION_ANSWERS.no
  if (allows && hasUnseen(permission, { ...room, color: true })) return scroll(permission, 'page-down', room)
  return answer(card, does.answer)
}

function pressReason({ card }: Permission, reason: Line, key: KeyPress): Pressed<AskCard> {
  if (key.name === 'escape') return set(card, { reason: undefined })
  if (key.name === 'enter') return answer(card, denialOf(reason.text))
  return set(card, { reason: pressLine(reason, key) ?? reason })
}

function scroll(permission: Permission, name: KeyPress['name'], room: Room): Pressed<AskCard> {
  const { card, state } = permission
  const { most, page } = scrollRange(permission, { ...room, color: true }) // as it is drawn mostly, and remembered
  const from = Math.min(state.scroll, most)
  const to = new Map<string, number>([
    ['page-down', from + page],
    ['page-up', from - page],
    ['home', 0],
    ['end', most],
  ]).get(name)
  return to === undefined ? set(card, {}) : set(card, { scroll: Math.max(0, Math.min(most, to)) })
}

function set(card: AskCard, change: Partial<PermissionState>): Pressed<AskCard> {
  return { state: { ...card, state: { ...(card.state as PermissionState), ...change } }, effects: [] }
}

function deny(card: AskCard): Pressed<AskCard> {
  return answer(card, PERMISSION_ANSWERS.no)
}

/** It is answered once: until somebody arms it again its keys do nothing. */
function answer(card: AskCard, text: string): Pressed<AskCard> {
  const question = card.ask.questions[0]!.question
  const effect: Effect = { type: 'answer', askId: card.askId, answers: { [question]: text } }
  return { state: { ...card, isArmed: false }, effects: [effect] }
}
