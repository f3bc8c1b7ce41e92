import type { Pressed } from '../state/effects.ts'
import type { KeyPress } from '../text/key.ts'
import type { Room } from '../view/view.ts'
import { answerOf, type Current, currentOf, type Form, tabCount } from './form-fields.ts'
import { formRange } from './form-view.ts'
import { pressLine } from './line.ts'
import type { AskCard, Field, FormState } from './types.ts'

/** What a key does to the form of one or several questions. Esc and Ctrl+D leave all of them unanswered. */
export function pressForm(form: Form, key: KeyPress, room: Room): Pressed<AskCard> {
  if (key.name === 'escape' || (key.ctrl && key.text === 'd')) return send(form.card, () => '')
  if (key.name === 'tab') return turn(form, key.shift ? -1 : 1)
  if (key.name === 'page-up' || key.name === 'page-down') return scroll(form, key.name, room)
  const current = currentOf(form)
  if (!current) return pressReview(form, key)
  if (key.name === 'enter') return confirm(form, current)
  if (key.name === 'up' || key.name === 'down') return move(form, current, key.name === 'up' ? -1 : 1)
  if (current.isTyping) return type(form, current, key)
  if (key.name === 'left' || key.name === 'right') return turn(form, key.name === 'left' ? -1 : 1)
  if (key.name === 'text' && !key.ctrl && !key.alt) return pressLetter(form, current, key)
  return key.name === 'paste' ? type(form, current, key) : stay(form)
}

function pressReview(form: Form, key: KeyPress): Pressed<AskCard> {
  if (key.name === 'enter') return send(form.card, (at) => form.state.fields[at]?.answer ?? '')
  if (key.name === 'left' || key.name === 'up') return turn(form, -1)
  return key.name === 'right' ? turn(form, 1) : stay(form)
}

/** The key of an option chooses it, or marks it; Space marks; anything else begins a person's own words. */
function pressLetter(form: Form, current: Current, key: KeyPress): Pressed<AskCard> {
  const { question, keys, field } = current
  const at = keys.indexOf(key.text.toLowerCase())
  if (at >= 0 && question.multiSelect) return setField(form, { ...toggled(field, at), cursor: at })
  if (at >= 0) {
    const chosen = { ...field, cursor: at }
    return confirm(form, { ...current, field: chosen })
  }
  if (key.text === ' ') return setField(form, question.multiSelect ? toggled(field, field.cursor) : field)
  return /^\d$/.test(key.text) ? stay(form) : type(form, current, key) // a digit of no option is a slip
}

function toggled(field: Field, at: number): Field {
  const { marked } = field
  return { ...field, marked: marked.includes(at) ? marked.filter((one) => one !== at) : [...marked, at] }
}

/** A key for the person's own words; the arrows at the ends of an empty line go to the next question. */
function type(form: Form, { question, field, isFree }: Current, key: KeyPress): Pressed<AskCard> {
  if (!isFree) return stay(form)
  const isSideways = key.name === 'left' || key.name === 'right'
  if (isSideways && field.text.text === '') return turn(form, key.name === 'left' ? -1 : 1)
  const text = pressLine(field.text, key)
  return text ? setField(form, { ...field, text, cursor: question.options.length }) : stay(form)
}

function move(form: Form, { question, field, isFree }: Current, step: number): Pressed<AskCard> {
  const rows = question.options.length + (isFree ? 1 : 0)
  return setField(form, { ...field, cursor: (field.cursor + step + rows) % Math.max(1, rows) })
}

/** Keeps an answer and goes on to the next question; a single one is sent. Without one, among several, it is left open. */
function confirm(form: Form, current: Current): Pressed<AskCard> {
  const answer = answerOf(current)
  const field = { ...current.field, answer }
  if (form.state.fields.length === 1) {
    return answer === undefined ? setField(form, field) : send(form.card, () => answer)
  }
  const { state } = setField(form, field)
  return turn({ card: state, state: state.state as FormState }, 1)
}

function turn(form: Form, step: number): Pressed<AskCard> {
  const count = tabCount(form)
  return set(form, { tab: (form.state.tab + step + count) % count })
}

function scroll(form: Form, name: 'page-up' | 'page-down', room: Room): Pressed<AskCard> {
  const { start, most, page } = formRange(form, { ...room, color: false })
  const to = start + (name === 'page-up' ? -page : page)
  return set(form, { scroll: Math.max(0, Math.min(most, to)) })
}

function stay({ card }: Form): Pressed<AskCard> {
  return { state: card, effects: [] }
}

function setField(form: Form, field: Field): Pressed<AskCard> {
  return set(form, { fields: form.state.fields.with(form.state.tab, field) })
}

function set({ card, state }: Form, change: Partial<FormState>): Pressed<AskCard> {
  return { state: { ...card, state: { ...state, scroll: undefined, ...change } }, effects: [] }
}

/** It is answered once: until somebody arms it again its keys do nothing. */
function send(card: AskCard, answerAt: (at: number) => string): Pressed<AskCard> {
  const answers = Object.fromEntries(card.ask.questions.map(({ question }, at) => [question, answerAt(at)]))
  return {
    state: { ...card, isArmed: false },
    effects: [{ type: 'answer', askId: card.askId, answers }],
  }
}
