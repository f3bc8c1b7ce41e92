import type { KeyResult } from '../text/effects.ts'
import type { KeyPress } from '../text/key.ts'
import { cleanLine, cleanText } from '../view/clean.ts'
import { memoizeLast } from '../view/memoize-last.ts'
import type { Section } from '../view/section.ts'
import { paint } from '../view/style.ts'
import { measureWidth, wrapLines } from '../view/text.ts'
import type { Face, Room } from '../view/view.ts'
import { bodyHeight, frame } from './frame.ts'
import { confirmText, keysText, pressAction } from './keys.ts'
import type { Overlay, PageOverlay } from './types.ts'

/** Creates a page, scrolled to its start. */
export function newPage(title: string, text: string, back?: Overlay): PageOverlay {
  return { kind: 'page', title, text, rows: memoizeLast(), scroll: 0, back }
}

/**
 * Handles a key in a page: movement keys scroll, q and Enter close it, and its own keys act on its
 * subject.
 */
export function pressPage(before: PageOverlay, key: KeyPress, room: Room): KeyResult<Overlay | undefined> {
  const { action } = before
  if (!action) return scrollPage(before, key, room)
  const pressed = pressAction(action, key)
  if (pressed) return { state: { ...before, action: pressed.state }, effects: pressed.effects }
  return scrollPage({ ...before, action: { ...action, asked: undefined } }, key, room)
}

function scrollPage(page: PageOverlay, key: KeyPress, room: Room): KeyResult<Overlay | undefined> {
  if (key.name === 'enter' || key.text === 'q') return { state: page.back, effects: [] }
  const height = bodyHeight(room.rows)
  const most = Math.max(0, wrapRows(page, room.columns).length - height)
  const from = Math.min(page.scroll, most)
  const to: number | undefined = {
    up: from - 1,
    down: from + 1,
    'page-up': from - Math.max(1, height - 1),
    'page-down': from + Math.max(1, height - 1),
    home: 0,
    end: most,
    space: from + Math.max(1, height - 1),
  }[key.text === ' ' ? 'space' : (key.name as string)]
  if (to === undefined) return { state: page, effects: [] }
  return { state: { ...page, scroll: Math.max(0, Math.min(most, to)) }, effects: [] }
}

/** Renders the page. */
export function renderPage(page: PageOverlay, view: Face): Section {
  const rows = wrapRows(page, view.columns)
  const height = bodyHeight(view.rows)
  const start = Math.max(0, Math.min(page.scroll, rows.length - height))
  const body = rows.slice(start, start + height)
  const title = paint(cleanLine(page.title), view.color, 'accent', 'bold')
  const place =
    rows.length > height ? `${start + 1}–${start + body.length} of ${rows.length} · ↑ ↓ PgUp PgDn · ` : ''
  const keys = page.action ? `${keysText(page.action)} · ` : ''
  const confirmation = page.action && confirmText(page.action)
  return frame(
    { title, body, keys: confirmation ?? `${place}${keys}Esc ${page.back ? 'goes back' : 'closes'}` },
    view,
  )
}

/**
 * Wraps the text of a page. Memoised, because the text may be long and is drawn on every key and clock tick.
 */
function wrapRows(page: PageOverlay, columns: number): readonly string[] {
  return page.rows(`${columns}`, () => {
    const text = page.layOut?.(columns) ?? page.text
    const clean = cleanText(text).replace(/\n+$/, '')
    return clean.split('\n').flatMap((line) => wrapHanging(line, columns))
  })
}

/**
 * Wraps a line of two columns below its second column, or below its first when the second is too narrow. A line that
 * has only a second column keeps its indent.
 */
function wrapHanging(line: string, columns: number): string[] {
  const [lead = ''] = /^( *\S.*? {2,}| {4,})(?=\S)/.exec(line) ?? []
  if (lead === '' || measureWidth(line) <= columns) return wrapLines(line, columns)
  const about = line.slice(lead.length)
  const indent = measureWidth(lead)
  if (columns - indent >= Math.min(MIN_ABOUT_WIDTH, columns / 2)) {
    return wrapLines(about, columns - indent).map((row, at) => (at === 0 ? lead : ' '.repeat(indent)) + row)
  }
  return line.startsWith('  ') ? underneath(lead, about, columns) : wrapLines(line, columns)
}

/** The minimum width, in columns, of a readable second column. */
const MIN_ABOUT_WIDTH = 30

const HEAD_INDENT = '  '

function underneath(lead: string, about: string, columns: number): string[] {
  const indent = columns < MIN_ABOUT_WIDTH ? '' : ' '.repeat(6)
  const rows = wrapLines(about, columns - indent.length)
  const heads = wrapLines(lead.trim(), Math.max(1, columns - HEAD_INDENT.length * 2))
  return [
    ...heads.map((row, at) => HEAD_INDENT.repeat(at === 0 ? 1 : 2) + row),
    ...rows.map((row) => indent + row),
  ]
}
