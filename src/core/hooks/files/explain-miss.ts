import { nearest } from '../../base/nearest.ts'
import type { Edit } from './arguments.ts'
import { lineAt } from './text.ts'

/** The reason edits cannot be applied. */
export interface Obstacle {
  problem: string
  hint?: string
}

/** The largest text, in UTF-16 units, that is searched for what was meant. */
const MAX_SEARCHED = 1_000_000

/** Explains why a text does not occur, with the place that was most likely meant and what differs there. */
export function explainMiss(text: string, { old, new: replacement }: Edit, name: string): Obstacle {
  const problem = `${name} does not occur`
  if (text === '') return { problem: `${problem}: the file is empty`, hint: 'use write' }
  if (text.length > MAX_SEARCHED) return { problem, hint: 'read the lines again' }
  const reason = endReason(text, old) ?? variantReason(text, old) ?? nearReason(text, old)
  const hint = findAppliedEdit(text, replacement)
  if (reason) return { problem: `${problem}; ${reason}`, ...(hint !== undefined && { hint }) }
  return { problem, hint: hint ?? 'read the file again' }
}

/** Detects a replacement of at least MIN_TELLING characters that is already in the text. */
function findAppliedEdit(text: string, replacement: string): string | undefined {
  const at = replacement.trim().length < MIN_TELLING ? -1 : text.indexOf(replacement)
  return at === -1 ? undefined : `the new text is already there, at line ${lineAt(text, at)}`
}

const MIN_TELLING = 12

function endReason(text: string, old: string): string | undefined {
  if (old.includes('\r') && text.includes(old.replaceAll('\r\n', '\n')))
    return 'it has CRLF, but lines of the file end with LF'
  if (old.endsWith('\n') && text.endsWith(old.slice(0, -1))) return 'the file ends there without a newline'
  return undefined
}

/** The ways in which two equivalent texts may differ, the most harmless first; each preserves the lines. */
const VARIANTS: readonly { what: string; of(line: string): string }[] = [
  { what: 'in trailing spaces', of: (line) => line.trimEnd() },
  { what: 'in its indentation', of: (line) => line.trim() },
  { what: 'in spaces and tabs', of: squeeze },
  { what: 'in quotes, dashes or special spaces', of: toPlainCharacters },
  { what: 'in upper and lower case', of: (line) => line.toLowerCase() },
  { what: 'in several ways', of: (line) => squeeze(toPlainCharacters(line)).toLowerCase() },
]

function variantReason(text: string, old: string): string | undefined {
  const written = unescaped(old)
  if (written !== old && text.includes(written))
    return 'it has \\n, \\t or \\" written out; send the characters themselves'
  const bare = old.replace(/^[ \t]*\d+(?:\t|→|[:|] ?)/gm, '')
  if (bare !== old && text.includes(bare)) return 'it has line numbers, which are not in the file'
  for (const { what, of } of VARIANTS) {
    const found = findLines(text, old, of)
    if (found !== undefined) return `line ${differenceFrom(found, text, old, what)}`
  }
  return undefined
}

/**
 * Finds the line where a text begins when both are normalized line by line; undefined when it does not occur
 * that way either.
 */
function findLines(text: string, old: string, of: (line: string) => string): number | undefined {
  const map = (whole: string) => whole.split('\n').map(of).join('\n')
  const normalized = map(old)
  const at = normalized.trim() === '' ? -1 : map(text).indexOf(normalized)
  return at === -1 ? undefined : lineAt(map(text), at)
}

/** Describes the first of these lines that differs: its number, the kind of difference, and both versions. */
function differenceFrom(first: number, text: string, old: string, what: string): string {
  const lines = text.split('\n')
  const oldLines = old.split('\n')
  const at = Math.max(
    0,
    oldLines.findIndex((line, index) => !lines[first - 1 + index]?.includes(line)),
  )
  const [there, here] = excerpts(lines[first - 1 + at] ?? '', oldLines[at]!)
  return `${first + at} differs ${what}: the file has ${there}, old has ${here}`
}

/**
 * Describes the most similar lines of the file: the place where most of them match, or else a line with
 * similar spelling.
 */
function nearReason(text: string, old: string): string | undefined {
  const lines = text.split('\n').map(squeeze)
  const oldLines = old.split('\n').map(squeeze)
  const start = bestStart(lines, oldLines)
  if (start !== undefined) {
    const at = oldLines.findIndex((line, index) => line !== lines[start + index])
    const [there, here] = excerpts(text.split('\n')[start + at] ?? '', old.split('\n')[at] ?? '')
    return `the closest match is line ${start + 1}; line ${start + at + 1} differs: the file has ${there}, old has ${here}`
  }
  const longest = oldLines.reduce((best, line) => (line.length > best.length ? line : best), '')
  const like = lines.slice(0, MAX_COMPARED).filter((line) => line.length < 2 * longest.length)
  const closest = longest.length < MAX_SPELT ? nearest(longest, new Set(like)) : undefined
  if (closest === undefined) return undefined
  const at = lines.indexOf(closest)
  return `the closest match is line ${at + 1}: ${excerpts(text.split('\n')[at]!, longest)[0]}`
}

const MAX_COMPARED = 10_000
const MAX_SPELT = 300

/**
 * Finds the start at which the most text of these lines matches in order; lines without two word characters
 * in a row do not count.
 */
function bestStart(lines: readonly string[], oldLines: readonly string[]): number | undefined {
  const places = new Map<string, number[]>()
  for (const [index, line] of oldLines.entries())
    if (/\w{2}/.test(line)) places.set(line, [...(places.get(line) ?? []), index])
  const votes = new Map<number, number>()
  for (const [index, line] of lines.entries())
    for (const place of places.get(line) ?? [])
      votes.set(index - place, (votes.get(index - place) ?? 0) + line.length)
  const best = [...votes].reduce((most, vote) => (vote[1] > most[1] ? vote : most), [-1, 0])
  return best[0] < 0 ? undefined : best[0]
}

const MAX_QUOTED = 100

/** Quotes both lines, starting a little before the place where they differ. */
function excerpts(there: string, here: string): [string, string] {
  let same = 0
  while (same < Math.min(there.length, here.length) && there[same] === here[same]) same++
  const from = Math.max(0, same - MAX_QUOTED / 2)
  const quote = (line: string) => {
    const part = line.slice(from, from + MAX_QUOTED)
    return `${from > 0 ? '…' : ''}${JSON.stringify(part)}${from + MAX_QUOTED < line.length ? '…' : ''}`
  }
  return [quote(there), quote(here)]
}

function squeeze(line: string): string {
  return line.replace(/[ \t]+/g, ' ').trim()
}

function toPlainCharacters(line: string): string {
  return line
    .normalize('NFKC')
    .replace(/[\u2018\u2019\u201a\u201b]/g, "'")
    .replace(/[\u201c-\u201f]/g, '"')
    .replace(/[\u2010-\u2015\u2212]/g, '-')
    .replace(/[\u200b\ufeff]/g, '')
}

function unescaped(text: string): string {
  const escapes: Record<string, string> = { n: '\n', t: '\t' }
  return text.replace(/\\([nt"'\\])/g, (_, char: string) => escapes[char] ?? char)
}
