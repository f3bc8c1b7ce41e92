import { expandPastes, holdPaste, isLongPaste, type Pastes, PLACEHOLDER, pasteLabel } from './pastes.ts'

/** A text whose pasted parts are placeholders, and the pastes they stand for. */
export interface FoldedText {
  text: string
  pastes: Pastes
}

/** Replaces the pasted parts of a sent text with placeholders again. */
export function foldPastes(text: string, pasted: readonly string[], pastes: Pastes): FoldedText {
  return toFolded(cutOut([{ text, isPasted: false }], pasted), pastes)
}

/** Replaces the long pasted parts of a sent text with their labels. */
export function labelPastes(text: string, pasted: readonly string[]): string {
  const long = pasted.filter(isLongPaste)
  if (long.length === 0) return text
  const folded = foldPastes(text, long, new Map())
  return [...folded.text].map((char) => pasteLabel(char, folded.pastes) ?? char).join('')
}

/**
 * Replaces pasted parts with placeholders in a text that was edited externally, so that pasted text never
 * counts as typed because of an edit around it. Whole pastes are replaced, and of a changed paste the long
 * runs of its lines and every line with a mention that the paste contains.
 */
export function foldEdited(text: string, pasted: readonly string[], pastes: Pastes): FoldedText {
  const parts = cutOut([{ text, isPasted: false }], pasted)
  const broken = pasted.filter((paste) => !isAmong(parts, paste))
  if (broken.length === 0) return toFolded(parts, pastes)
  const source: Source = { lines: new Set(broken.flatMap(splitLines)), whole: broken.join('\n') }
  const cut = parts.flatMap((part) => (part.isPasted ? [part] : cutLines(part.text, source)))
  return toFolded(cut, pastes)
}

/** Lists the pastes in a text, which are expanded before it is edited externally. */
export function pastedParts(text: string, pastes: Pastes): string[] {
  return [...new Set(text.match(new RegExp(PLACEHOLDER, 'gu')))].map((char) => expandPastes(char, pastes))
}

interface Part {
  text: string
  isPasted: boolean
}

/**
 * Splits off the pasted parts. Longer pastes come first, because one may contain another. Each is also tried
 * without trailing whitespace, which a sent text has lost at its end.
 */
function cutOut(parts: readonly Part[], pasted: readonly string[]): readonly Part[] {
  const candidates = pasted
    .flatMap((paste) => [paste, paste.trimEnd()])
    .filter((paste) => paste.trim() !== '')
  return candidates.toSorted((a, b) => b.length - a.length).reduce(cutOne, parts)
}

function cutOne(parts: readonly Part[], paste: string): readonly Part[] {
  return parts.flatMap((part) => {
    if (part.isPasted || !part.text.includes(paste)) return [part]
    const between = part.text.split(paste).map((text): Part => ({ text, isPasted: false }))
    return between.flatMap((one, at) => (at === 0 ? [one] : [{ text: paste, isPasted: true }, one]))
  })
}

function isAmong(parts: readonly Part[], paste: string): boolean {
  return parts.some(({ text, isPasted }) => isPasted && text.trimEnd() === paste.trimEnd())
}

/** The content of the changed pastes. */
interface Source {
  lines: ReadonlySet<string>
  whole: string
}

function cutLines(text: string, source: Source): Part[] {
  const parts: Part[] = []
  let run = ''
  const endRun = () => {
    if (run !== '') parts.push({ text: run, isPasted: isLongPaste(run) || run.includes('@') })
    run = ''
  }
  for (const line of text.split(/(?<=\n)/)) {
    if (isFrom(line, source)) run += line
    else {
      endRun()
      parts.push({ text: line, isPasted: false })
    }
  }
  endRun()
  return parts
}

function isFrom(line: string, { lines, whole }: Source): boolean {
  if (lines.has(line.trimEnd())) return true
  return (line.match(MENTION) ?? []).some((mention) => whole.includes(mention.replace(BEHIND, '')))
}

const MENTION = /@(?:"[^"\n]+"|[^\s"@]+)/g
/** Suffixes after a path that do not belong to it: line numbers and punctuation. */
const BEHIND = /(?::\d+(?:-\d+)?)?[.,;:!?)\]}'`>]*$/

function splitLines(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trimEnd())
    .filter((line) => line !== '')
}

/** Folds the pasted parts, and any part with a character that would be mistaken for a placeholder. */
function toFolded(parts: readonly Part[], before: Pastes): FoldedText {
  let pastes = before
  let folded = ''
  for (const { text, isPasted } of parts) {
    const held = isPasted || PLACEHOLDER.test(text) ? holdPaste(pastes, text) : undefined
    if (held) pastes = held.pastes
    folded += held?.placeholder ?? text
  }
  return { text: folded, pastes }
}
