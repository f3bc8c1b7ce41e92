import type { ChatEffect, KeyResult } from '../text/effects.ts'
import type { KeyPress } from '../text/key.ts'
import { cleanLine } from '../view/clean.ts'
import type { Section } from '../view/section.ts'
import { paint } from '../view/style.ts'
import { measureWidth, padText, truncateText } from '../view/text.ts'
import type { Face, Room } from '../view/view.ts'
import { windowAround } from '../view/window.ts'
import { renderColorSample } from './color-sample.ts'
import { renderDetails } from './details.ts'
import { bodyHeight, frame, moveSelection } from './frame.ts'
import { typeIntoLine } from './keys.ts'
import type { Overlay, Picker, PickerItem } from './types.ts'

/** Creates a picker with the current item selected. */
export function newPicker(
  parts: Pick<
    Picker,
    'picker' | 'subject' | 'title' | 'items' | 'widerScope' | 'hasSample' | 'targets' | 'level'
  >,
  filter = '',
): Picker {
  const all: Picker = { kind: 'picker', ...parts, filter, selected: 0 }
  const current = filterItems(all).findIndex(({ isCurrent }) => isCurrent)
  return { ...all, selected: Math.max(0, current) }
}

/** Handles a key in a picker: text narrows it, Enter chooses, Tab opens a wider search. */
export function pressPicker(picker: Picker, key: KeyPress, room: Room): KeyResult<Overlay | undefined> {
  const { widerScope: scope, filter: query, targets } = picker
  if (key.name === 'tab' && scope !== undefined)
    return { state: undefined, effects: [{ type: 'open-search', scope, query }] }
  if (key.name === 'tab' && targets) return { state: withNextTarget(picker, targets, key.shift), effects: [] }
  const items = filterItems(picker)
  const { levels } = items[picker.selected] ?? {}
  if (levels && levels.length > 0 && (key.name === 'left' || key.name === 'right'))
    return { state: withNextLevel(picker, levels, key.name === 'left' ? -1 : 1), effects: [] }
  if (key.name === 'enter') {
    const chosen = items[picker.selected]
    if (!chosen) return { state: picker, effects: [] }
    return { state: undefined, effects: [chooseItem(picker, chosen)] }
  }
  const selected = moveSelection(picker.selected, items.length, key, room)
  if (selected !== undefined) return { state: { ...picker, selected: Math.max(0, selected) }, effects: [] }
  const filter = typeIntoLine(picker.filter, key)
  return { state: filter === picker.filter ? picker : { ...picker, filter, selected: 0 }, effects: [] }
}

/** Returns the effect of choosing an item. It has a level only when the user has set one that the item has. */
export function chooseItem(
  { picker, subject, targets, newLevel }: Picker,
  { value, levels = [] }: PickerItem,
): ChatEffect & { type: 'chosen' } {
  return {
    type: 'chosen',
    picker,
    value,
    ...(subject !== undefined && { key: subject }),
    ...(targets && { target: targets.names[targets.selected]! }),
    ...(newLevel !== undefined && isLevel(newLevel, levels) && { level: newLevel }),
  }
}

/** Whether an item has this level; the default is a level of every item that has others. */
function isLevel(level: string, levels: readonly string[]): boolean {
  return levels.length > 0 && ['', ...levels].includes(level)
}

function withNextTarget(
  picker: Picker,
  { names, selected }: NonNullable<Picker['targets']>,
  isBack: boolean,
): Picker {
  const next = (selected + (isBack ? -1 : 1) + names.length) % names.length
  return { ...picker, targets: { names, selected: next } }
}

function withNextLevel(picker: Picker, levels: readonly string[], step: 1 | -1): Picker {
  const all = ['', ...levels]
  const at = Math.max(0, all.indexOf(shownLevel(picker) ?? ''))
  return { ...picker, newLevel: all[Math.max(0, Math.min(all.length - 1, at + step))]! }
}

/** Returns the level that Enter would leave in place or write; undefined where it is not known. */
function shownLevel({ targets, level, newLevel }: Picker): string | undefined {
  return newLevel ?? (targets === undefined || targets.selected === 0 ? level : undefined)
}

/** Renders the picker, with the caret after the filter. */
export function renderPicker(picker: Picker, view: Face): Section {
  const { columns, color } = view
  const items = filterItems(picker)
  const lead = toLead(cleanLine(picker.title))
  const filter = truncateText(
    cleanLine(picker.filter),
    Math.max(1, columns - measureWidth(lead) - COUNT_WIDTH),
  )
  const count =
    items.length === picker.items.length ? `${items.length}` : `${items.length} of ${picker.items.length}`
  const gap = columns - measureWidth(lead + filter) - count.length
  const counted = gap < 1 ? '' : ' '.repeat(gap) + paint(count, color, 'dim')
  const title = paint(lead, color, 'accent', 'bold') + filter + counted
  const sample = picker.hasSample && bodyHeight(view.rows) > MIN_SAMPLE_HEIGHT ? renderColorSample(view) : []
  const settings = settingRows(picker, items[picker.selected], { columns, color })
  const height = bodyHeight(view.rows) - sample.length
  const shownSettings = settings.length + MIN_ITEMS <= height ? settings : []
  const room = height - shownSettings.length
  const nearby = items.slice(...toRange(windowAround(items.length, room, picker.selected)))
  const labels = Math.min(
    MAX_LABEL_WIDTH,
    Math.max(0, ...nearby.map(({ label }) => measureWidth(cleanLine(label)))),
  )
  const space = { beside: detailWidth(labels, columns), indent: 2, width: columns - MARGIN }
  const details = renderDetails(nearby, items[picker.selected], { ...space, rows: room - MIN_ITEMS, color })
  const [start, end] = toRange(windowAround(items.length, room - details.length, picker.selected))
  const shown = items.slice(start, end)
  const body = shown.map((item, at) =>
    itemRow(item, { picker, isSelected: start + at === picker.selected, labels, columns, color }),
  )
  const wider = picker.widerScope === undefined ? '' : ' · Tab searches messages'
  const keys = `Enter chooses · ↑ ↓ · type to narrow${wider} · Esc closes`
  const nothing = [paint(picker.items.length === 0 ? '  nothing here' : '  no match', color, 'dim')]
  const caret = measureWidth(lead + filter)
  const list = body.length === 0 ? nothing : body
  return frame({ title, body: [...list, ...details, ...shownSettings, ...sample], keys, caret }, view)
}

/** Returns the title with what separates it from the filter. */
function toLead(title: string): string {
  return /[?":]/.test(title) ? `${title}  ` : `${title}: `
}

function toRange({ start, end }: { start: number; end: number }): [start: number, end: number] {
  return [start, end]
}

/** Returns the columns beside the labels; 0 when details have no space there. */
function detailWidth(labels: number, columns: number): number {
  const width = columns - MARGIN - Math.min(labels, columns - MARGIN) - 1
  return columns < MIN_DETAILED_WIDTH || width < MIN_DETAIL_WIDTH ? 0 : width
}

/** Describes where the choice applies, and the level of the selected item. */
function settingRows(
  picker: Picker,
  { levels = [] }: Partial<PickerItem> = {},
  face: Pick<Face, 'columns' | 'color'>,
): string[] {
  const { targets } = picker
  const level = shownLevel(picker)
  const names = level === undefined ? [UNCHANGED, 'default', ...levels] : ['default', ...levels]
  const chosen = level === undefined ? 0 : Math.max(0, levels.indexOf(level) + 1)
  return [
    ...(targets
      ? [settingRow('For', { names: targets.names, chosen: targets.selected, keys: 'Tab' }, face)]
      : []),
    ...(levels.length > 0 ? [settingRow('Effort', { names, chosen, keys: '← →' }, face)] : []),
  ]
}

/** The level of a target whose stored level the picker does not know. */
const UNCHANGED = 'as it is'

/** Renders the values of a setting; where they do not fit, only the chosen one. */
function settingRow(
  label: string,
  { names, chosen, keys }: { names: readonly string[]; chosen: number; keys: string },
  { columns, color }: Pick<Face, 'columns' | 'color'>,
): string {
  const row = (shown: readonly string[]) =>
    `  ${paint(label, color, 'dim')}${' '.repeat(LABEL_WIDTH - label.length)}${shown.join('  ')}  ${paint(keys, color, 'dim')}`
  const values = names.map((name, at) =>
    at === chosen ? paint(`[${name}]`, color, 'accent') : paint(name, color, 'dim'),
  )
  const whole = row(values)
  return measureWidth(whole) <= columns ? whole : row(values.slice(chosen, chosen + 1))
}

const LABEL_WIDTH = 8
/** The items that must stay visible beside the settings. */
const MIN_ITEMS = 3
/** The minimum rows of a picker that has space for a sample below its items. */
const MIN_SAMPLE_HEIGHT = 12

const COUNT_WIDTH = 16
const MAX_LABEL_WIDTH = 48
/** Narrower terminals show no details. */
const MIN_DETAILED_WIDTH = 60

interface ItemFace {
  picker: Picker
  isSelected: boolean
  /** The columns of the widest label. */
  labels: number
  columns: number
  color: boolean
}

function itemRow({ label, detail, isCurrent }: PickerItem, face: ItemFace): string {
  const { picker, isSelected, labels, columns, color } = face
  const isWide = columns >= MIN_DETAILED_WIDTH && detail !== ''
  const room = isWide ? Math.min(labels, columns - MARGIN) : columns - MARGIN
  const name = truncateText(cleanLine(label), room)
  const mark = isSelected ? paint('› ', color, 'accent') : '  '
  const painted = highlight(name, picker.filter, { isSelected, color })
  const current = isCurrent ? paint(' ✓', color, 'success') : '  '
  if (!isWide) return `${mark}${painted}${current}`.trimEnd()
  const left = detailWidth(labels, columns)
  const about = left === 0 ? '' : ` ${paint(truncateText(cleanLine(detail), left), color, 'dim')}`
  return `${mark}${padText(painted, room)}${current}${about}`.trimEnd()
}

/** The columns of the marks before and after a label. */
const MARGIN = 4
const MIN_DETAIL_WIDTH = 8

/** Returns the items that contain every word of the filter, in their order. */
export function filterItems({ items, filter }: Pick<Picker, 'items' | 'filter'>): readonly PickerItem[] {
  const words = splitFilter(filter)
  if (words.length === 0) return items
  return items.filter(({ label, detail }) => {
    const text = `${label} ${detail}`.toLowerCase()
    return words.every((word) => text.includes(word))
  })
}

function splitFilter(filter: string): string[] {
  return filter.toLowerCase().split(/\s+/).filter(Boolean)
}

/** Highlights the first matching word of the filter in a label. */
function highlight(
  label: string,
  filter: string,
  { isSelected, color }: { isSelected: boolean; color: boolean },
): string {
  const base = (text: string) => (isSelected ? paint(text, color, 'accent') : text)
  const word = splitFilter(filter).find((one) => label.toLowerCase().includes(one))
  if (word === undefined || label.toLowerCase().length !== label.length) return base(label)
  const at = label.toLowerCase().indexOf(word)
  const end = at + word.length
  const found = paint(label.slice(at, end), color, 'underline', 'bold')
  return base(label.slice(0, at)) + found + base(label.slice(end))
}
