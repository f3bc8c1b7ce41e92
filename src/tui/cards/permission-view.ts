import { toVisible } from '../../core/base/visible.ts'
import type { PermissionRequest } from '../../core/protocol/crabtalk.generated.ts'
import type { Section } from '../view/section.ts'
import { paint, type Style } from '../view/style.ts'
import { widthOf } from '../view/text.ts'
import { type Face, focusHeight } from '../view/view.ts'
import { type Window, windowOf } from '../view/window.ts'
import { choiceRows, choicesOf } from './choices.ts'
import { showLine } from './line.ts'
import { clampRows, ends, factRows, positionText, quoteRows } from './rows.ts'
import { spaced, subjectOf, toLines, visibleLine } from './subject.ts'
import type { AskCard, CardContent, PermissionState } from './types.ts'

/** A permission card, as far as it is being answered. */
export interface Permission {
  card: AskCard
  state: PermissionState
  request: PermissionRequest
}

/** The card as lines: what would be done scrolls, the choices always stand below it. */
export function renderPermission(permission: Permission, view: Face): Section {
  const { top, scrolled, window, bottom, foot, caret } = layOut(permission, view)
  const lines = [...top, ...scrolled.slice(window.start, window.end), ...bottom, ...foot]
  const line = lines.length - 1
  return {
    lines: clampRows(lines, view.columns),
    caret: caret === undefined ? undefined : { x: Math.min(caret, view.columns - 1), y: line },
    cut: 'head',
    rank: 8,
  }
}

/** How far the card can be scrolled, and by how much at a time. */
export function scrollRange(permission: Permission, view: Face): { most: number; page: number } {
  const { scrolled, window } = layOut(permission, view)
  const height = window.end - window.start
  return { most: Math.max(0, scrolled.length - height), page: Math.max(1, height - 1) }
}

/** In so little room that nothing says so, the end of what would be done has not been on the screen. */
export function hasUnseen(permission: Permission, view: Face): boolean {
  return layOut(permission, view).isCut
}

interface Layout {
  top: readonly string[]
  scrolled: readonly string[]
  window: Window
  bottom: readonly string[]
  foot: readonly string[]
  /** Column of the caret, which stands in the last line. */
  caret: number | undefined
  isCut: boolean
}

/** Where there is little room everything scrolls but the choices; where there is more, why it is asked stays in sight. */
function layOut(permission: Permission, view: Face): Layout {
  const { state } = permission
  const height = focusHeight(view.rows)
  const { foot, caret } = footOf(permission, view, height)
  const space = height - foot.length
  const title = titleOf(permission, view)
  const { body, facts } = contentOf(permission, view)
  const isTall = space > MIN_TITLED
  const pinned = isTall && !state.isWhole ? facts.slice(0, Math.floor(space / 3)) : []
  const rest = facts.slice(pinned.length)
  const scrolled = isTall ? [...body, ...rest] : [title, ...body, ...rest]
  const room = space - (isTall ? 1 : 0) - pinned.length
  const window = windowOf(scrolled.length, room, state.scroll)
  const isCut = !isTall && window.end < 1 + body.length
  const place = paint(positionText(scrolled.length, window), view.color, 'dim')
  return {
    top: isTall ? [ends(title, place, view.columns)] : [],
    scrolled,
    window,
    bottom: pinned,
    foot: isCut && permission.card.isArmed && !state.reason ? marked(foot, view.columns) : foot,
    caret,
    isCut,
  }
}

/** What has not been seen cannot be permitted: where there is room, the choices say that there is more above them. */
function marked(foot: readonly string[], columns: number): string[] {
  return foot.map((line, at) => (at === 0 && widthOf(line) + 2 < columns ? `${line} ↓` : line))
}

/** With fewer rows the title scrolls away with the rest. */
const MIN_TITLED = 3

function footOf(
  { card, state }: Permission,
  { columns, color }: Face,
  height: number,
): { foot: readonly string[]; caret: number | undefined } {
  const { reason, selected } = state
  if (!card.isArmed) return { foot: [], caret: undefined } // its keys do nothing
  if (reason) {
    const { text, x } = showLine(reason, columns - WHY.length - 1)
    return { foot: [paint(WHY, color, 'accent') + text], caret: WHY.length + x }
  }
  const most = height < MIN_WORDY ? 1 : 2
  const choices = choicesOf(card.ask.questions[0]!)
  const rows = choiceRows(choices, { selected, columns, color, most })
  return { foot: rows, caret: undefined }
}

const WHY = 'why not? '
const MIN_WORDY = 6

function titleOf({ card, request }: Permission, { color }: Face): string {
  const words = `${visibleLine(card.agent)} wants to ${visibleLine(subjectOf(request).verb)}`
  return paint(words, color, 'warning', 'bold')
}

/** It may be long, and is drawn with every key and every tick of the clock. */
function contentOf(permission: Permission, { columns, color }: Face): CardContent {
  const { card, state } = permission
  const key = `${columns} ${color} ${state.isWhole}`
  return card.content(key, () => makeContent(permission, { columns, color }))
}

function makeContent({ card, state, request }: Permission, quoting: Quoting): CardContent {
  const { what } = subjectOf(request)
  const { cwd, diff, reason, rules, arguments: args } = request
  const { isWhole } = state
  const shown = toVisible(what)
  const all = toVisible(toLines(args))
  const most = isWhole ? {} : { most: MOST_WHY_ROWS }
  const fact = (name: string, text: string, more = {}) =>
    factRows(name, visibleLine(text), { ...quoting, ...more })
  return {
    body: [
      ...quoteRows(shown, quoting),
      ...(diff === '' ? [] : quoteRows(toVisible(withoutHead(spaced(diff), what)), { ...quoting, tint })),
    ],
    facts: [
      ...(cwd === '' ? [] : fact('in', cwd)),
      ...(reason === '' ? [] : fact('why', reason, most)),
      ...rules.flatMap((rule) => fact('rule', rule)),
      ...(isWhole && all !== shown ? ['  with', ...quoteRows(all, quoting)] : []),
      ...(isWhole ? helpRows(card, quoting) : []),
    ],
  }
}

type Quoting = Omit<Face, 'rows'>

const MOST_WHY_ROWS = 3

function helpRows({ ask }: AskCard, { columns, color }: Quoting): string[] {
  const choices = choicesOf(ask.questions[0]!)
  const keys = choices.flatMap(({ key, help }) => factRows(key, help, { columns, color }))
  return ['', ...keys, ...factRows('^C', 'stops the agent', { columns, color })]
}

/** A diff whose first two lines only name the file that is named above it, without them. */
function withoutHead(diff: string, path: string): string {
  const head = `--- ${path}\n+++ ${path}\n`
  return diff.startsWith(head) ? diff.slice(head.length) : diff
}

/** The first two lines of a diff name the file. */
function tint(line: string, at: number): Style | undefined {
  return at < 2 && /^(---|\+\+\+) /.test(line) ? 'dim' : TINTS.get(line.slice(0, 1))
}

const TINTS: ReadonlyMap<string, Style> = new Map<string, Style>([
  ['+', 'added'],
  ['-', 'removed'],
  ['@', 'accent'],
])
