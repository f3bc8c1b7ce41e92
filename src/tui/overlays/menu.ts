import type { KeyResult } from '../text/effects.ts'
import type { KeyPress } from '../text/key.ts'
import { cleanLine } from '../view/clean.ts'
import type { Section } from '../view/section.ts'
import { paint } from '../view/style.ts'
import { measureWidth, padText, truncateText, wrapAtMost } from '../view/text.ts'
import type { Face, Room } from '../view/view.ts'
import { windowAround } from '../view/window.ts'
import { renderDetails } from './details.ts'
import { bodyHeight, frame, moveSelection } from './frame.ts'
import type { MenuItem, MenuOverlay, Overlay } from './types.ts'

/** Creates a menu with an item selected, by default the first. */
export function newMenu(
  parts: Pick<MenuOverlay, 'picker' | 'title' | 'items'> &
    Partial<Pick<MenuOverlay, 'subject' | 'selected' | 'note' | 'back' | 'yieldsToText'>>,
): MenuOverlay {
  return {
    kind: 'menu',
    subject: '',
    selected: 0,
    note: '',
    yieldsToText: false,
    typed: '',
    isBusy: false,
    ...parts,
  }
}

/**
 * Handles a key in a menu: a digit or the arrows select, Enter chooses. Nothing is chosen while an earlier
 * choice is being carried out.
 */
export function pressMenuOverlay(
  menu: MenuOverlay,
  key: KeyPress,
  room: Room,
): KeyResult<Overlay | undefined> {
  if (menu.isBusy) return { state: menu, effects: [] }
  const item = menu.items[menu.selected]
  if (key.name === 'enter' && item) {
    const { picker, subject } = menu
    return {
      state: { ...menu, isBusy: true },
      effects: [{ type: 'chosen', picker, value: item.value, key: subject }],
    }
  }
  const digit = isDigit(key) ? Number(key.text) - 1 : undefined
  if (digit !== undefined && digit < menu.items.length)
    return { state: { ...menu, selected: digit, typed: menu.typed + key.text }, effects: [] }
  const selected = moveSelection(menu.selected, menu.items.length, key, room)
  return { state: selected === undefined ? menu : { ...menu, selected, typed: '' }, effects: [] }
}

/**
 * Returns the keys that mean the composer although an overlay covers it: text typed while a menu is open that the user
 * did not ask for, together with digits that came before it; and text typed over a page that has no use for it.
 * Undefined when the keys mean the overlay.
 */
export function findKeysForPrompt(overlay: Overlay, keys: readonly KeyPress[]): KeyPress[] | undefined {
  if (overlay.kind === 'page') return overlay.action || !isTyping(keys) ? undefined : [...keys]
  if (overlay.kind !== 'menu' || !overlay.yieldsToText || overlay.isBusy) return undefined
  if (!keys.some(isText)) return undefined
  const before = [...overlay.typed].map((text): KeyPress => ({ ...PLAIN_TEXT, text }))
  return [...before, ...keys]
}

/** Whether text begins with these keys that a page does not use: it scrolls at a space and closes at `q`. */
function isTyping([key, ...more]: readonly KeyPress[]): boolean {
  if (key?.name === 'paste') return true
  const isText = key?.name === 'text' && !key.ctrl && !key.alt
  return isText && (more.length > 0 || (key.text !== 'q' && key.text !== ' '))
}

function isText(key: KeyPress): boolean {
  if (key.name === 'paste') return true
  return key.name === 'text' && !key.ctrl && !key.alt && !isDigit(key)
}

const PLAIN_TEXT = { name: 'text', ctrl: false, alt: false, shift: false } as const

/** Renders the menu: its note, then one numbered row for each item. */
export function renderMenuOverlay(menu: MenuOverlay, view: Face): Section {
  const { columns, color } = view
  const height = bodyHeight(view.rows)
  const notes = menu.note === '' ? [] : wrapAtMost(cleanLine(menu.note), columns - MARGIN, NOTE_ROWS)
  const noteRows = height > menu.items.length ? notes.slice(0, height - menu.items.length) : []
  const { start, end } = windowAround(menu.items.length, Math.max(1, height - noteRows.length), menu.selected)
  const widest = Math.max(0, ...menu.items.map(({ label }) => measureWidth(cleanLine(label))))
  const labels = Math.min(widest, Math.max(1, columns - MARGIN))
  const rows = menu.items
    .slice(start, end)
    .map((item, at) =>
      itemRow(item, { number: start + at + 1, isSelected: start + at === menu.selected, labels }, view),
    )
  const title = paint(cleanLine(menu.title), color, 'accent', 'bold')
  const left = height - noteRows.length - rows.length
  const space = { beside: detailWidth(labels, columns), indent: MARGIN, width: columns - MARGIN, rows: left }
  const details = renderDetails(menu.items, menu.items[menu.selected], { ...space, color })
  const body = [...noteRows.map((row) => paint(`  ${row}`, color, 'warning')), ...rows, ...details]
  return frame({ title, body, keys: describeKeys(menu) }, view)
}

/** Returns the columns beside the labels; 0 when details have no space there. */
function detailWidth(labels: number, columns: number): number {
  const width = columns - MARGIN - labels - 2
  return width < MIN_DETAIL_WIDTH ? 0 : width
}

function describeKeys({ back, yieldsToText, isBusy }: MenuOverlay): string {
  if (isBusy) return 'One moment… · Esc cancels'
  const close = back ? 'Esc goes back' : 'Esc closes'
  return `↑ ↓ or a digit, then Enter · ${close}${yieldsToText ? ' · or just type' : ''}`
}

function itemRow(
  { label, detail }: MenuItem,
  { number, isSelected, labels }: { number: number; isSelected: boolean; labels: number },
  { columns, color }: Face,
): string {
  const mark = isSelected ? paint('› ', color, 'accent') : '  '
  const name = padText(truncateText(cleanLine(label), labels), labels)
  const left = detailWidth(labels, columns)
  const about = left === 0 ? '' : `  ${paint(truncateText(cleanLine(detail), left), color, 'dim')}`
  const digit = number <= MAX_DIGIT ? `${number}` : ' '
  return `${mark}${digit}  ${isSelected ? paint(name, color, 'accent') : name}${about}`.trimEnd()
}

function isDigit({ name, text, ctrl, alt }: KeyPress): boolean {
  return name === 'text' && !ctrl && !alt && /^[1-9]$/.test(text)
}

const MAX_DIGIT = 9
/** The columns of the mark and the number before a label. */
const MARGIN = 5
const MIN_DETAIL_WIDTH = 8
const NOTE_ROWS = 4
