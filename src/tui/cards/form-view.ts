import { AskKind } from '../../core/protocol/crabtalk.generated.ts'
import { cleanLine, cleanText } from '../view/clean.ts'
import type { Section } from '../view/section.ts'
import { paint } from '../view/style.ts'
import { truncateText, widthOf, wrapText } from '../view/text.ts'
import { type Face, focusHeight } from '../view/view.ts'
import { windowOf } from '../view/window.ts'
import { type Current, currentOf, type Form } from './form-fields.ts'
import { showLine } from './line.ts'
import { BAR, clampRows, ends, positionText } from './rows.ts'

/** The form as lines: the question and its options scroll to where the arrows stand, the keys always stand below. */
export function renderForm(form: Form, view: Face): Section {
  const { top, rows, window, foot, caret } = layOut(form, view)
  const lines = [...top, ...rows.slice(window.start, window.end), ...foot]
  const y = caret ? caret.y - window.start : -1
  const isSeen = y >= 0 && y < window.end - window.start
  return {
    lines: clampRows(lines, view.columns),
    caret: isSeen && caret ? { x: Math.min(caret.x, view.columns - 1), y: top.length + y } : undefined,
    cut: 'head',
    rank: 8,
  }
}

/** Where the form is scrolled to, how far it can be, and by how much at a time. */
export function formRange(form: Form, view: Face): { start: number; most: number; page: number } {
  const { rows, window } = layOut(form, view)
  const height = window.end - window.start
  return { start: window.start, most: Math.max(0, rows.length - height), page: Math.max(1, height - 1) }
}

/** Rows that scroll, where the arrows stand in them, and the caret. */
interface Content {
  rows: readonly string[]
  focus: { start: number; end: number }
  caret?: { x: number; y: number } | undefined
}

function layOut(form: Form, view: Face) {
  const height = focusHeight(view.rows)
  const current = currentOf(form)
  const { isArmed } = form.card
  const { rows, focus, caret } = current
    ? questionRows(current, { ...view, isArmed, isTabbed: form.state.fields.length > 1 })
    : reviewRows(form, view)
  const foot =
    height < MIN_FOOTED || !isArmed
      ? []
      : [paint(truncateText(howTo(form, current), view.columns), view.color, 'dim')]
  const isTall = height >= MIN_TITLED
  const tabs = isTall && form.state.fields.length > 1 ? [tabRow(form, view)] : []
  const room = height - foot.length - tabs.length - (isTall ? 1 : 0)
  const needed = focus.end > room ? Math.min(focus.start, focus.end - room) : 0
  const window = windowOf(rows.length, room, form.state.scroll ?? needed)
  const place = paint(positionText(rows.length, window), view.color, 'dim')
  const top = isTall ? [ends(titleOf(form, view), place, view.columns), ...tabs] : []
  return { top, rows, window, foot, caret: isArmed ? caret : undefined }
}

const MIN_FOOTED = 3
const MIN_TITLED = 5

function titleOf({ card: { agent, ask } }: Form, { color }: Face): string {
  const who = cleanLine(agent)
  if (ask.kind !== AskKind.ELICITATION) return paint(`${who} asks`, color, 'accent', 'bold')
  return paint(`An MCP server of ${who} asks: not to be trusted with secrets`, color, 'warning', 'bold')
}

/** The questions by their headers, as many as fit around the one that is shown. */
function tabRow({ card, state }: Form, { columns, color }: Face): string {
  const headers = card.ask.questions.map(({ header }, at) => cleanLine(header) || `Question ${at + 1}`)
  const most = Math.max(4, Math.floor(columns / (headers.length + 1)) - 3)
  const tabs = [...cutApart(headers, most), truncateText('Submit', most)].map((name, at) => {
    const mark = state.fields[at]?.answer === undefined ? '' : '✓'
    const text = ` ${mark}${name} `
    return at === state.tab ? paint(text, color, 'inverse') : paint(text, color, mark ? 'success' : 'dim')
  })
  const before = tabs.slice(0, state.tab)
  while (before.length > 0 && widthOf([...before, tabs[state.tab]].join(' ')) > columns) before.shift()
  return [...before, ...tabs.slice(state.tab)].join(' ')
}

/** Names of at most so many columns; numbered where two would look the same. */
function cutApart(names: readonly string[], most: number): string[] {
  const cut = names.map((name) => truncateText(name, most))
  const isApart = new Set(cut).size === cut.length
  return isApart ? cut : names.map((name, at) => truncateText(`${at + 1} ${name}`, most))
}

/** Without the marks and keys of the options while they do nothing. */
function questionRows(
  current: Current,
  { columns, color, isArmed, isTabbed }: Face & { isArmed: boolean; isTabbed: boolean },
): Content {
  const { question, field, keys, isFree, isTyping } = current
  const asked = wrapText(cleanText(question.question).trim(), columns - BAR.length).map((row) => BAR + row)
  const rows =
    question.header === '' || isTabbed ? asked : [...headed(question.header, columns, color), ...asked]
  let focus = { start: 0, end: rows.length }
  for (const [at, { label, description }] of question.options.entries()) {
    const mark = question.multiSelect ? (field.marked.includes(at) ? '[x] ' : '[ ] ') : ''
    const about = description === '' ? '' : paint(` · ${cleanLine(description)}`, color, 'dim')
    const isHere = isArmed && !isTyping && field.cursor === at
    const name = isHere ? paint(cleanLine(label), color, 'accent') : cleanLine(label)
    const [first = '', ...more] = wrapText(`${mark}${name}${about}`, columns - MARGIN)
    const start = rows.length
    rows.push(
      `${isHere ? '›' : ' '} ${isArmed ? keys[at] : '·'} ${first}`,
      ...more.map((row) => `    ${row}`),
    )
    if (isHere) focus = { start, end: rows.length }
  }
  if (!isFree) return { rows, focus }
  const lead = `${isArmed && isTyping ? '›' : ' '} ${question.options.length === 0 ? '' : '… '}`
  const { text, x } = showLine(field.text, columns - widthOf(lead) - 1)
  const shown =
    field.text.text === '' ? paint(question.options.length === 0 ? '' : 'your own words', color, 'dim') : text
  rows.push(lead + shown)
  const y = rows.length - 1
  return isTyping
    ? { rows, focus: { start: y, end: y + 1 }, caret: { x: widthOf(lead) + x, y } }
    : { rows, focus }
}

/** Columns before a label: the mark, the key and blanks. */
const MARGIN = 4

function headed(header: string, columns: number, color: boolean): string[] {
  return [paint(`  ${truncateText(cleanLine(header), columns - 2)}`, color, 'bold')]
}

function reviewRows({ card, state }: Form, { columns, color }: Face): Content {
  const rows = card.ask.questions.flatMap(({ question, header }, at) => {
    const answer = state.fields[at]?.answer
    const name = truncateText(cleanLine(header || question), columns - 2)
    const given = answer === undefined ? paint('no answer', color, 'warning') : cleanLine(answer)
    return [
      `  ${paint(name, color, 'dim')}`,
      ...wrapText(given, columns - BAR.length).map((row) => BAR + row),
    ]
  })
  return { rows, focus: { start: 0, end: 0 } }
}

function howTo({ state }: Form, current: Current | undefined): string {
  const several = state.fields.length > 1
  const turn = several ? ['Tab next question'] : []
  if (!current) return ['Enter sends these answers', ...turn, 'Esc gives none'].join(' · ')
  const { question, keys, isFree, isTyping } = current
  const on = several ? 'Enter goes on' : 'Enter answers'
  if (isTyping) return [on, ...turn, 'Esc gives none'].join(' · ')
  const which = keys.length === 1 ? `${keys[0]}` : `${keys[0]}–${keys.at(-1)}`
  const how = question.multiSelect ? [`Space or ${which} marks`, on] : [`${which} or Enter chooses`]
  return [...how, ...(isFree ? ['or type'] : []), ...turn, 'Esc gives none'].join(' · ')
}
