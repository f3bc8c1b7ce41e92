import { PERMISSION_ANSWERS } from '../../../src/core/base/permission-answers.ts'
import {
  AskKind,
  type AskQuestion,
  AskUserEvent,
  type DeepPartial,
  type PermissionRequest,
} from '../../../src/core/protocol/crabtalk.generated.ts'
import { armCard, openCard, pressCard, renderCard, writeToCard } from '../../../src/tui/cards/card.ts'
import type { AskCard, CardView } from '../../../src/tui/cards/types.ts'
import type { ChatEffect } from '../../../src/tui/text/effects.ts'
import type { KeyName, KeyPress } from '../../../src/tui/text/key.ts'

const { once, session, always, no } = PERMISSION_ANSWERS

export const CRAB = { agent: 'crab', sender: 'ann' }
export const ALL_ANSWERS = [once, session, always, no]
export const ONCE_ONLY = [once, no]

/** Returns a permission card that accepts keys. */
export function permissionCard(
  permission: DeepPartial<PermissionRequest>,
  answers: readonly string[] = ALL_ANSWERS,
): AskCard {
  const question = { question: 'Allow it?', options: answers.map((label) => ({ label })) }
  return armCard(
    openCard(createAsk({ kind: AskKind.PERMISSION, questions: [question], permission }), {
      agent: 'crab',
      sender: 'ann',
    }),
  )
}

/** Returns a form that accepts keys. */
export function formCard(
  questions: readonly DeepPartial<AskQuestion>[],
  kind: AskKind = AskKind.QUESTION,
): AskCard {
  return armCard(openCard(createAsk({ kind, questions: [...questions] }), { agent: 'crab', sender: 'ann' }))
}

function createAsk(ask: DeepPartial<AskUserEvent>): AskUserEvent {
  return AskUserEvent.create({ askId: 'ask-1', ...ask })
}

/**
 * Returns a key press: `enter`, `ctrl+c`, `shift+tab`, `page-down`; one letter types it, `type:…` types all
 * of it in one piece, `paste:…` pastes.
 */
export function key(text: string): KeyPress {
  const plain = { name: 'text', text, ctrl: false, alt: false, shift: false } as const
  if (text.startsWith('type:')) return { ...plain, text: text.slice(5) }
  if (text.startsWith('paste:')) return { ...plain, name: 'paste', text: text.slice(6) }
  if (text.startsWith('ctrl+')) return { ...plain, text: text.slice(5), ctrl: true }
  if (text === 'shift+tab') return { ...plain, name: 'tab', text: '', shift: true }
  return NAMES.has(text) ? { ...plain, name: text as KeyName, text: '' } : plain
}

const NAMES: ReadonlySet<string> = new Set([
  'enter',
  'tab',
  'escape',
  'backspace',
  'delete',
  'up',
  'down',
  'left',
  'right',
  'home',
  'end',
  'page-up',
  'page-down',
] satisfies KeyName[])

/** Returns a view with an empty composer below the card. */
export function makeCardView(columns = 80, rows = 24, more: Partial<CardView> = {}): CardView {
  return { columns, rows, color: false, promptRows: 1, isFree: true, directory: '', ...more }
}

/**
 * Returns the card after these keys, and all effects they requested. Every key comes after a pause, except
 * those with the prefix `fast:`; `write:…` is a message that is sent while the card waits for text.
 */
export function pressKeys(
  card: AskCard,
  keys: readonly string[],
  view = makeCardView(),
): { card: AskCard; effects: ChatEffect[]; rest: string } {
  const effects: ChatEffect[] = []
  let rest = ''
  let state = card
  for (const one of keys) {
    const name = one.replace(/^fast:/, '')
    const now = armCard(state, name === one)
    const pressed = name.startsWith('write:')
      ? writeToCard(now, name.slice(6))
      : pressCard(now, key(name), { view, isAlone: true })
    state = pressed.state
    effects.push(...pressed.effects)
    rest += pressed.rest
      .map(({ name, text }) => (name === 'text' || name === 'paste' ? text : `<${name}>`))
      .join('')
  }
  return { card: armCard(state), effects, rest }
}

/** Returns the card's answer after these keys, by question; undefined when it gives no answer. */
export function readAnswers(card: AskCard, ...keys: string[]): Readonly<Record<string, string>> | undefined {
  const effect = pressKeys(card, keys).effects.find((one) => one.type === 'answer')
  return effect?.answers
}

/** Returns the card's lines without colors. */
export function renderLines(card: AskCard, columns = 80, rows = 24): readonly string[] {
  return renderCard(card, makeCardView(columns, rows)).lines
}
