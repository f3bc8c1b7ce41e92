import { keysText } from '../overlays/keys.ts'
import { chooseItem, filterItems } from '../overlays/picker.ts'
import { takeResult } from '../overlays/search.ts'
import { cleanPieces, scopeTitle, searchNote } from '../overlays/search-view.ts'
import type { Overlay, PageOverlay, Panel, PickerItem, Search } from '../overlays/types.ts'
import type { SearchExcerpt, SearchResult } from '../search/types.ts'
import type { ChatEffect } from '../text/effects.ts'
import { cleanLine, cleanText } from '../view/clean.ts'
import { truncateText } from '../view/text.ts'

type ChosenEffect = ChatEffect & { type: 'chosen' }

/** Formats an overlay as text with complete lines, including how to answer it. */
export function overlayText(overlay: Overlay): string {
  switch (overlay.kind) {
    case 'page':
      return pageText(overlay)
    case 'picker':
      return listText(overlay.title, filterItems(overlay).map(toRow), PICKING)
    case 'panel':
      return listText(overlay.title, overlay.rows.map(toCells), panelKeys(overlay), overlay.note)
    case 'search':
      return searchText(overlay)
    case 'menu':
      return listText(overlay.title, overlay.items.map(toRow), PICKING, overlay.note)
    case 'entry':
      return `\n${cleanLine(overlay.isSecret ? HIDDEN_TEXT : [overlay.problem, `${overlay.title}.`, overlay.help].filter(Boolean).join(' '))}\n`
  }
}

/** A plain chat reads whole lines, which the terminal echoes. */
const HIDDEN_TEXT = 'A key cannot be hidden in plain lines: run crabtalk connect in a shell instead'

/** Returns the prompt for the answer; undefined when there is nothing to answer. */
export function answerPrompt(overlay: Overlay): string | undefined {
  if (overlay.kind === 'page') return overlay.action && 'letter> '
  if (overlay.kind === 'entry') return overlay.isSecret ? undefined : `${cleanLine(overlay.title)}> `
  const isEmpty = overlay.kind === 'search' && overlay.results.items.length === 0
  return isEmpty ? undefined : 'number> '
}

/** Parses the choice in a typed line; undefined when there is none, which closes the overlay. */
export function parseChosen(line: string, overlay: Overlay): ChosenEffect | undefined {
  const [, letter = '', digits = ''] = /^\s*(\D?)\s*(\d*)\s*$/.exec(line) ?? []
  const at = digits === '' ? -1 : Number(digits) - 1
  switch (overlay.kind) {
    case 'page':
      return overlay.action && at < 0 ? withKey(overlay.action, overlay.action.value, letter) : undefined
    case 'picker': {
      const item = filterItems(overlay)[at]
      return item && chooseItem(overlay, item)
    }
    case 'menu': {
      const item = overlay.items[at]
      return item && { type: 'chosen', picker: overlay.picker, value: item.value, key: overlay.subject }
    }
    case 'entry': {
      const value = line.trim() || overlay.text
      return value === '' && !overlay.allowsEmpty
        ? undefined
        : { type: 'chosen', picker: overlay.picker, value, key: overlay.subject }
    }
    case 'panel': {
      const row = overlay.rows[at]
      return row && withKey(overlay, row.value, letter || (overlay.keys[0]?.key ?? ''))
    }
    case 'search': {
      const found = overlay.results.items[at]
      const effect = found && takeResult(overlay, found)
      if (effect?.type !== 'chosen') return undefined
      const { key: _, ...chosen } = effect // a plain chat has no transcript to find the word in
      return chosen
    }
  }
}

function withKey(
  { picker, keys }: Pick<Panel, 'picker' | 'keys'>,
  value: string,
  letter: string,
): ChosenEffect | undefined {
  return keys.some(({ key }) => key === letter) ? { type: 'chosen', picker, value, key: letter } : undefined
}

function listText(title: string, rows: readonly string[], howTo: string, note = ''): string {
  const numbered = rows.map((row, at) => `${at + 1}. ${row}\n`)
  const noteLine = note === '' ? '' : `${cleanLine(note)}\n`
  return `\n${cleanLine(title)}\n${numbered.join('')}${noteLine}${howTo === '' ? '' : `${howTo}\n`}`
}

function pageText({ title, text, action }: PageOverlay): string {
  const howTo = action ? `A letter: ${keysText(action)}. An empty line continues.\n` : ''
  return `\n${cleanLine(title)}\n${cleanText(text).trimEnd()}\n${howTo}`
}

function searchText(search: Search): string {
  const { scope, query, results: found } = search
  const words = query.trim() === '' ? '' : `: ${query}`
  const howTo = scope === 'memory' ? 'A number shows it' : 'A number opens it'
  const answer = found.items.length === 0 ? '' : `${howTo}; an empty line continues.`
  return listText(scopeTitle(search) + words, found.items.map(formatResult), answer, searchNote(search))
}

/** Formats a result with its first excerpt below. */
function formatResult({ title, detail, excerpts }: SearchResult): string {
  const head = [joinPieces(title), cleanLine(detail)].filter((part) => part !== '').join(', ')
  return [head, ...excerpts.slice(0, 1).map(toExcerpt)].join('\n   ')
}

function toExcerpt({ lead, pieces }: SearchExcerpt): string {
  return `${lead === '' ? '' : `${cleanLine(lead)}: `}${truncateText(joinPieces(pieces), EXCERPT_COLUMNS)}`
}

/** The maximum length of an excerpt: about three lines of a typical terminal. */
const EXCERPT_COLUMNS = 240

function joinPieces(pieces: SearchResult['title']): string {
  return cleanPieces(pieces)
    .map(({ text }) => text)
    .join('')
}

function toRow({ label, detail, isCurrent = false }: PickerItem): string {
  const parts = [label, detail, isCurrent ? 'in use' : ''].map(cleanLine)
  return parts.filter((part) => part !== '').join(', ')
}

function toCells({ cells, problem }: Panel['rows'][number]): string {
  return [...cells, problem]
    .map(cleanLine)
    .filter((part) => part !== '')
    .join(', ')
}

const PICKING = 'A number chooses; an empty line chooses nothing.'

function panelKeys({ keys }: Panel): string {
  const named = keys.map(({ key, label }) => `${key} ${label}`).join(', ')
  return named === ''
    ? 'An empty line continues.'
    : `A letter and a number: ${named}. An empty line continues.`
}
