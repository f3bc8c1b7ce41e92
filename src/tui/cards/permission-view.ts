import { escapeLine } from '../../core/base/visible.ts'
import type { PermissionRequest } from '../../core/protocol/crabtalk.generated.ts'
import {
  formatChoice,
  listPermissionChoices,
  NO_DIGIT,
  type PermissionChoice,
} from '../../core/questions/choices.ts'
import { findEditableText } from '../../core/questions/edit-call.ts'
import { listPlanChoices } from '../../core/questions/plan-choices.ts'
import { toSubject } from '../../core/questions/subject.ts'
import { renderMarkdown } from '../view/markdown/render.ts'
import type { Section } from '../view/section.ts'
import { paint } from '../view/style.ts'
import { measureWidth, truncateText } from '../view/text.ts'
import { describeDiffColors } from '../view/tool/diff.ts'
import { scrollWindow } from '../view/window.ts'
import { contentRows } from './permission-content.ts'
import { BAR, bottomRule, CLEAR_PROMPT, cardHeight, clampRows, positionText, titleRule } from './rows.ts'
import { describeEntered } from './selection.ts'
import type { AskCard, CardView, PermissionState } from './types.ts'

/** A card with fixed choices and its state: a permission, or a plan. */
export interface Permission {
  card: AskCard
  state: PermissionState
  /** The call that needs permission; undefined for a plan. */
  request: PermissionRequest | undefined
}

/** Lists the choices of the card. */
export function listChoices({ permission, questions }: AskCard['ask']): readonly PermissionChoice[] {
  return permission === undefined ? listPlanChoices(questions[0]!) : listPermissionChoices(questions[0]!)
}

/** Renders the card: the action scrolls, the choices are always visible below it. */
export function renderPermission(permission: Permission, view: CardView): Section {
  const { top, rows, window, foot } = layOut(permission, view)
  const lines = [...top, ...rows.slice(window.start, window.end), ...foot]
  return { lines: clampRows(lines, view.columns), cut: 'head', rank: 8 }
}

/**
 * Returns the visible range of the content rows, their total, and how many were seen without a gap from the
 * first.
 */
export function getContentWindow(
  permission: Permission,
  view: CardView,
): { start: number; end: number; total: number; seen: number } {
  const { rows, window, seen } = layOut(permission, view)
  return { ...window, total: rows.length, seen }
}

function layOut(permission: Permission, view: CardView) {
  const { card, state, request } = permission
  const height = cardHeight(view)
  const room = renderFooter(permission, view, height, undefined)
  const isTall = height - room.length >= MIN_TITLED
  const content = getContentRows(permission, view)
  const title = request ? capitalize(escapeLine(toSubject(request).verb)) : 'Plan'
  const rows = isTall ? content : [`${escapeLine(card.agent)}: ${title}`, ...content]
  const window = scrollWindow(rows.length, Math.max(0, height - room.length - (isTall ? 1 : 0)), state.scroll)
  const before = state.seen.columns === view.columns ? state.seen.rows : 0
  const seen = window.start <= before ? Math.max(before, window.end) : before
  const unseenFrom = seen < rows.length ? seen + 1 : undefined
  const foot = renderFooter(permission, view, height, unseenFrom)
  const place = positionText(rows.length, window, view.columns)
  const who = escapeLine(card.agent)
  const directory = escapeLine(view.directory)
  const top = isTall ? [titleRule({ title, place, who, directory, style: 'warning' }, view)] : []
  return { top, rows, window, foot, seen }
}

/** The minimum height for a fixed title; with fewer rows the title scrolls with the content. */
const MIN_TITLED = 3

function capitalize(verb: string): string {
  return TITLES.get(verb) ?? verb.charAt(0).toUpperCase() + verb.slice(1)
}

const TITLES: ReadonlyMap<string, string> = new Map([
  ['run', 'Run a command'],
  ['edit', 'Change a file'],
  ['read', 'Read a file'],
])

/** Renders the choices, one per row where there is space, and the keys. */
function renderFooter(
  permission: Permission,
  view: CardView,
  height: number,
  unseenFrom: number | undefined,
): string[] {
  const { card, state } = permission
  const choices = listChoices(card.ask)
  const isRoomy = height >= choices.length + 1 + MIN_CONTENT
  const rows = isRoomy ? choiceRows(permission, view) : flowRows(permission, view, height < 6 ? 1 : 2)
  const hasKeys = isRoomy && height >= rows.length + 2 + MIN_CONTENT
  const isFramed = isRoomy && height >= rows.length + 3 + MIN_CONTENT + 3
  const keys = hasKeys
    ? [
        paint(
          truncateText(
            `${' '.repeat(KEYS_INDENT)}${describeKeys(permission, view, unseenFrom)}`,
            view.columns,
          ),
          view.color,
          'dim',
        ),
      ]
    : []
  const shown = state.isWriting ? [] : rows
  return [...shown, ...keys, ...(isFramed ? [bottomRule(view)] : [])]
}

/** The number of content rows that take precedence over a row for each choice. */
const MIN_CONTENT = 2

function choiceRows({ card, state, request }: Permission, { columns, color }: CardView): string[] {
  const { pick } = state
  const about = { rules: request?.rules ?? [], agent: card.agent }
  return listChoices(card.ask).map((choice, at) => {
    const words = FORMS.map((form) => formatChoice(choice, about, form))
    const fitting = words.find((text) => measureWidth(text) + MARGIN <= columns) ?? words.at(-1)!
    const isSelected = at === pick.at
    const mark = isSelected ? '❯' : ' '
    const text = ` ${mark} ${choice.digit}  ${fitting}`
    if (!card.isArmed || (isSelected && pick.by === 'card'))
      return paint(text, color, isSelected ? 'bold' : 'dim')
    return isSelected ? paint(text, color, 'accent', 'bold') : text
  })
}

const FORMS = ['whole', 'medium', 'short'] as const
const MARGIN = 6

/** Lays out the choices side by side, in at most `most` rows. */
function flowRows(
  { card, state, request }: Permission,
  { columns, color }: CardView,
  most: number,
): string[] {
  const about = { rules: request?.rules ?? [], agent: card.agent }
  const cells = listChoices(card.ask).map((choice, at) => ({
    long: `${at === state.pick.at ? '❯' : ' '}${choice.digit} ${formatChoice(choice, about, 'short')}`,
    short: `${at === state.pick.at ? '❯' : ''}${choice.digit}`,
  }))
  const long = flow(
    cells.map((cell) => cell.long),
    columns,
  )
  const rows =
    long.length <= most
      ? long
      : flow(
          cells.map((cell) => cell.short),
          columns,
        )
  return rows.map((row) => (card.isArmed ? row : paint(row, color, 'dim')))
}

function flow(cells: readonly string[], columns: number): string[] {
  const rows: string[] = []
  for (const cell of cells) {
    const row = rows.at(-1)
    if (row === undefined || measureWidth(row) + 1 + measureWidth(cell) > columns) rows.push(cell)
    else rows[rows.length - 1] = `${row} ${cell}`
  }
  return rows
}

/** Whether a choice allows the call, or accepts the plan; that requires that the whole content was seen. */
export function isAllowing({ digit, does }: PermissionChoice): boolean {
  return digit < NO_DIGIT && does !== 'reason'
}

/** Describes what the keys do now. `unseenFrom` is the number of the first row that was not on the screen yet. */
function describeKeys(
  { card, state }: Permission,
  { isFree, columns }: CardView,
  unseenFrom: number | undefined,
): string {
  const fit = (long: string, short: string) => (measureWidth(long) + KEYS_INDENT <= columns ? long : short)
  const isPlan = card.ask.permission === undefined
  const editable = card.ask.permission && findEditableText(card.ask.permission)
  if (state.isEditing) {
    const part = editable?.part ?? 'call'
    return fit(`Edit the ${part} below, Enter runs it · Esc back`, `Edit the ${part}, Enter · Esc back`)
  }
  if (state.isWriting) {
    return isPlan
      ? fit(
          'Type what to change, Enter sends it to the agent · Esc back',
          'Type what to change, Enter · Esc back',
        )
      : fit('Type why, Enter sends it to the agent · Esc back', 'Type why, then Enter · Esc back')
  }
  if (card.isAnswered) return 'Answered'
  if (!isFree) return CLEAR_PROMPT
  const { pick, hasDetails } = state
  if (pick.isEntered) return describeEntered(pick)
  const choice = listChoices(card.ask)[pick.at]!
  if (pick.by !== 'card') {
    const enter = card.isArmed || pick.by === 'digit' ? 'Enter' : 'Wait a moment, then Enter'
    if (unseenFrom !== undefined && isAllowing(choice)) {
      const reads = `${enter} reads on from line ${unseenFrom}`
      return fit(`${reads}: Yes needs all of it`, reads)
    }
    return `${enter} answers ${choice.digit}${editable ? ' · Tab edit' : ''}`
  }
  if (!card.isArmed)
    return fit('Wait a moment, then a digit or arrows and Enter', 'Wait a moment, then a digit, Enter')
  const details = `? ${hasDetails ? 'less' : 'details'}`
  if (isPlan) return fit('A digit or arrows, then Enter · Esc no', 'A digit or arrows, Enter · Esc no')
  const edit = editable ? 'Tab edit · ' : ''
  const long = `A digit or arrows, then Enter · ${edit}${details} · Esc no, the agent continues`
  return fit(
    fit(long, `A digit or arrows, Enter · ${edit}${details} · Esc no`),
    'A digit or arrows, Enter · Esc no',
  )
}

const KEYS_INDENT = 3

/**
 * Returns the content rows. They are memoised, because the content may be long and is drawn on every key and
 * clock tick.
 */
function getContentRows({ card, state, request }: Permission, view: CardView): readonly string[] {
  const { columns, color, highlight } = view
  const { hasDetails } = state
  if (!request) return card.content(`${columns} plan`, () => ({ rows: planRows(card, view) })).rows
  const key = `${columns} ${describeDiffColors(color)} ${highlight !== undefined} ${hasDetails}`
  return card.content(key, () => ({
    rows: contentRows(
      { card, request, hasDetails, hasRules: !isInline(card, request, columns) },
      { columns, color, highlight },
    ),
  })).rows
}

/** Renders a plan as Markdown behind a bar, so that none of it can pass for text of crabtalk. */
function planRows({ ask }: AskCard, view: CardView): readonly string[] {
  const lines = renderMarkdown(ask.questions[0]!.question, { ...view, columns: view.columns - BAR.length })
  return lines.map((line) => `${BAR}${line}`.trimEnd())
}

/** Whether the choices have space for the complete rules they would create. */
function isInline(card: AskCard, { rules }: PermissionRequest, columns: number): boolean {
  const lasting = listChoices(card.ask).filter(({ lasts }) => lasts)
  const about = { rules, agent: card.agent }
  return lasting.every((choice) => measureWidth(formatChoice(choice, about, 'whole')) + MARGIN <= columns)
}
