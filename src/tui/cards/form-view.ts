import { AskKind } from '../../core/protocol/crabtalk.generated.ts'
import { askerName } from '../../core/questions/answer-kinds.ts'
import { cleanLine, cleanText } from '../view/clean.ts'
import type { Section } from '../view/section.ts'
import { paint } from '../view/style.ts'
import { measureWidth, truncateText, wrapLines } from '../view/text.ts'
import type { Face } from '../view/view.ts'
import { scrollWindow } from '../view/window.ts'
import {
  type CurrentQuestion,
  countTabs,
  type FilledForm,
  type FormRow,
  getCurrentQuestion,
  listFormRows,
  listRowDigits,
} from './form-fields.ts'
import { BAR, bottomRule, CLEAR_PROMPT, cardHeight, clampRows, positionText, titleRule } from './rows.ts'
import { describeEntered } from './selection.ts'
import type { CardView } from './types.ts'

/**
 * Renders the form: the question and its rows scroll to the selected row, and the keys are always visible
 * below.
 */
export function renderForm(form: FilledForm, view: CardView): Section {
  const { top, rows, window, foot } = layOut(form, view)
  const lines = [...top, ...rows.slice(window.start, window.end), ...foot]
  return { lines: clampRows(lines, view.columns), cut: 'head', rank: 8 }
}

/** Returns the scroll position of the form, its maximum, and the rows per page. */
export function formRange(form: FilledForm, view: CardView): { start: number; most: number; page: number } {
  const { rows, window } = layOut(form, view)
  const height = window.end - window.start
  return { start: window.start, most: Math.max(0, rows.length - height), page: Math.max(1, height - 1) }
}

function layOut(form: FilledForm, view: CardView) {
  const height = cardHeight(view)
  const current = getCurrentQuestion(form)
  const { rows, focus } = layOutContent(form, current, view)
  const isFramed = height >= Math.min(rows.length, MIN_ROWS) + 4
  const keys = paint(truncateText(`   ${describeKeys(form, view)}`, view.columns), view.color, 'dim')
  const foot = [...(height < MIN_FOOTED ? [] : [keys]), ...(isFramed ? [bottomRule(view)] : [])]
  const isTall = height >= MIN_TITLED
  const tabs = isTall && form.state.fields.length > 1 ? [tabRow(form, view)] : []
  const room = Math.max(0, height - foot.length - tabs.length - (isTall ? 1 : 0))
  const needed = focus.end > room ? Math.min(focus.start, focus.end - room) : 0
  const window = scrollWindow(rows.length, room, form.state.scroll ?? needed)
  const place = positionText(rows.length, window, view.columns)
  const top = isTall ? [formatTitle(form, place, view), ...tabs] : []
  return { top, rows, window, foot }
}

const MIN_FOOTED = 3
const MIN_TITLED = 5
const MIN_ROWS = 8

function formatTitle({ card: { agent, ask } }: FilledForm, place: string, view: Face): string {
  const asks = `${cleanLine(askerName(ask, agent))} asks`
  if (ask.kind !== AskKind.ELICITATION)
    return titleRule({ title: asks, place, who: '', style: 'accent' }, view)
  const long = `${asks.replace('an ', 'An ')}: do not give it secrets`
  const isWide = measureWidth(long) + measureWidth(place) + TITLE_MARGIN <= view.columns
  const title = isWide ? long : 'An MCP server asks: no secrets'
  return titleRule({ title, place, who: '', style: 'warning' }, view)
}

/** The columns around a title and a position. */
const TITLE_MARGIN = 8

/** Renders the headers of the questions as tabs, as many as fit around the current one. */
function tabRow({ card, state }: FilledForm, { columns, color }: Face): string {
  const headers = card.ask.questions.map(({ header }, at) => cleanLine(header) || `Question ${at + 1}`)
  const most = Math.max(4, Math.floor(columns / (headers.length + 1)) - 3)
  const tabs = [...truncateDistinct(headers, most), truncateText('Submit', most)].map((name, at) => {
    const mark = state.fields[at]?.answer === undefined ? '' : '✓'
    const text = `${mark}${name}`
    return at === state.tab
      ? paint(`[${text}]`, color, 'inverse')
      : paint(` ${text} `, color, mark ? 'success' : 'dim')
  })
  const before = tabs.slice(0, state.tab)
  while (before.length > 0 && measureWidth([...before, tabs[state.tab]].join(' ')) > columns) before.shift()
  return [...before, ...tabs.slice(state.tab)].join(' ')
}

/** Truncates names to at most `most` columns, with a number in front when two would look the same. */
function truncateDistinct(names: readonly string[], most: number): string[] {
  const cut = names.map((name) => truncateText(name, most))
  const isApart = new Set(cut).size === cut.length
  return isApart ? cut : names.map((name, at) => truncateText(`${at + 1} ${name}`, most))
}

/** The scrolling rows, and the range of the selected one. */
interface Content {
  rows: readonly string[]
  focus: { start: number; end: number }
}

function layOutContent(form: FilledForm, current: CurrentQuestion | undefined, view: CardView): Content {
  const rows = [...(current ? questionRows(form, current, view) : reviewRows(form, view))]
  const { pick, isWriting } = form.state
  const digits = listRowDigits(form)
  let focus = { start: 0, end: Math.min(1, rows.length) }
  for (const [at, row] of listFormRows(form).entries()) {
    const isSelected = pick.by !== 'card' && at === pick.at && !isWriting
    const start = rows.length
    rows.push(
      ...choiceRows(row, { current, digit: digits[at]!, isSelected, isArmed: form.card.isArmed }, view),
    )
    if (isSelected) focus = { start, end: rows.length }
  }
  return { rows, focus }
}

function choiceRows(
  row: FormRow,
  {
    current,
    digit,
    isSelected,
    isArmed,
  }: { current: CurrentQuestion | undefined; digit: number; isSelected: boolean; isArmed: boolean },
  { columns, color }: Face,
): string[] {
  const words = formatRow(row, current, color)
  const [first = '', ...more] = wrapLines(words, Math.max(4, columns - MARGIN))
  const line = ` ${isSelected ? '❯' : ' '} ${digit === 0 ? '·' : digit}  ${first}`
  const rows = [line, ...more.map((text) => `${' '.repeat(MARGIN)}${text}`)]
  if (isSelected) return rows.map((text) => paint(text, color, 'accent', 'bold'))
  return isArmed ? rows : rows.map((text) => paint(text, color, 'dim'))
}

/** The columns before a label: the mark, the digit and spaces. */
const MARGIN = 6

function formatRow(row: FormRow, current: CurrentQuestion | undefined, color: boolean): string {
  if (row.does === 'send') return 'Send these answers'
  if (row.does === 'change') return 'Change them'
  const { question, field } = current!
  if (row.does === 'done') return 'Done: send the marked answers'
  if (row.does === 'write') {
    if (field.ownText !== '') return `Your own words: ${cleanLine(field.ownText)}`
    return question.options.length === 0 ? 'Type an answer' : 'Your own words'
  }
  const { label, description } = question.options[row.at]!
  const mark = question.multiSelect ? (field.marked.includes(row.at) ? '[x] ' : '[ ] ') : ''
  const about = description === '' ? '' : paint(` · ${cleanLine(description)}`, color, 'dim')
  return `${mark}${cleanLine(label)}${about}`
}

function questionRows(
  { state }: FilledForm,
  { question }: CurrentQuestion,
  { columns, color }: Face,
): string[] {
  const questionLines = wrapLines(cleanText(question.question).trim(), columns - BAR.length).map(
    (row) => BAR + row,
  )
  if (question.header === '' || state.fields.length > 1) return questionLines
  return [
    paint(`  ${truncateText(cleanLine(question.header), columns - 2)}`, color, 'bold'),
    ...questionLines,
  ]
}

function reviewRows({ card, state }: FilledForm, { columns, color }: Face): string[] {
  return card.ask.questions.flatMap(({ question, header }, at) => {
    const answer = state.fields[at]?.answer
    const name = truncateText(cleanLine(header || question), columns - 2)
    const text = answer === undefined ? paint('no answer', color, 'warning') : cleanLine(answer)
    return [
      `  ${paint(name, color, 'dim')}`,
      ...wrapLines(text, columns - BAR.length).map((row) => BAR + row),
    ]
  })
}

/** Describes what the keys do now. */
function describeKeys(form: FilledForm, { isFree, columns }: CardView): string {
  const { card, state } = form
  const fit = (texts: readonly string[]) =>
    texts.find((text) => measureWidth(text) + KEYS_INDENT <= columns) ?? texts.at(-1)!
  if (state.isWriting)
    return fit(['Type your answer, Enter sends it · Esc back', 'Type your answer, Enter · Esc back'])
  if (card.isAnswered) return 'Answered'
  if (!isFree) return CLEAR_PROMPT
  if (state.pick.isEntered) return describeEntered(state.pick)
  if (state.pick.by !== 'card') {
    const needsWait = !card.isArmed && state.pick.by !== 'digit'
    return needsWait ? 'Wait a moment, then Enter chooses it' : 'Enter chooses it'
  }
  if (!card.isArmed) return 'Wait a moment, then choose'
  const turn = countTabs(form) > 1 ? ' · Tab next question' : ''
  const digits = listRowDigits(form).some((digit) => digit > 0) ? 'A digit or arrows' : 'Arrows'
  const [long, short] =
    card.ask.kind === AskKind.TRUST ? ['not this time', 'no'] : ['sends no answer', 'skips']
  return fit([
    `${digits}, then Enter${turn} · Esc ${long}`,
    `${digits}, Enter${turn} · Esc ${short}`,
    `${digits}, Enter · Esc ${short}`,
  ])
}

const KEYS_INDENT = 3
