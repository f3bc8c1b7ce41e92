import { matching } from '../overlays/picker.ts'
import type { Overlay, Panel, Picker } from '../overlays/types.ts'
import type { Effect } from '../state/effects.ts'
import { cleanLine, cleanText } from '../view/clean.ts'

/** An overlay as text, every line ended, and how to answer it. */
export function overlayText(overlay: Overlay): string {
  if (overlay.kind === 'page') return `\n${cleanLine(overlay.title)}\n${cleanText(overlay.text).trimEnd()}\n`
  const rows = overlay.kind === 'picker' ? matching(overlay).map(toRow) : overlay.rows.map(toCells)
  const numbered = rows.map((row, at) => `${at + 1}. ${row}\n`)
  const note = overlay.kind === 'panel' && overlay.note !== '' ? `${cleanLine(overlay.note)}\n` : ''
  return `\n${cleanLine(overlay.title)}\n${numbered.join('')}${note}${howTo(overlay)}\n`
}

/** What a typed line chooses; undefined when it chooses nothing, which closes the overlay. */
export function readChosen(line: string, overlay: Overlay): (Effect & { type: 'chosen' }) | undefined {
  if (overlay.kind === 'page') return undefined
  const [, letter = '', number = ''] = /^\s*(\S?)\s*(\d+)\s*$/.exec(line) ?? []
  const row = (overlay.kind === 'picker' ? matching(overlay) : overlay.rows)[Number(number) - 1]
  if (!row) return undefined
  const { picker } = overlay
  if (overlay.kind === 'picker') return { type: 'chosen', picker, value: row.value }
  const key = letter === '' ? overlay.keys[0]?.key : letter
  const isOffered = overlay.keys.some((one) => one.key === key)
  return isOffered ? { type: 'chosen', picker, value: row.value, key } : undefined
}

function toRow({ label, detail, isCurrent = false }: Picker['items'][number]): string {
  const parts = [label, detail, isCurrent ? 'in use' : ''].map(cleanLine)
  return parts.filter((part) => part !== '').join(', ')
}

function toCells({ cells, problem }: Panel['rows'][number]): string {
  return [...cells, problem]
    .map(cleanLine)
    .filter((part) => part !== '')
    .join(', ')
}

function howTo(overlay: Picker | Panel): string {
  if (overlay.kind === 'picker') return 'A number chooses; an empty line chooses nothing.'
  const keys = overlay.keys.map(({ key, label }) => `${key} ${label}`).join(', ')
  return keys === '' ? 'An empty line goes on.' : `A letter and a number: ${keys}. An empty line goes on.`
}
