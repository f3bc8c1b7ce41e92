import { expandPastes, holdPaste, isLongPaste, type Pastes, PLACEHOLDER } from './pastes.ts'

/** A text whose pasted parts are placeholders, and the pastes they stand for. */
export interface FoldedText {
  text: string
  pastes: Pastes
}

/** A text as it was sent, with its pasted parts as placeholders again. */
export function foldPastes(text: string, pasted: readonly string[], pastes: Pastes): FoldedText {
  return toFolded(cutOut([{ text, isPasted: false }], pasted), pastes)
}

/**
 * A text that was edited elsewhere, with what is left of the pastes it began with as placeholders: whole pastes; of one
 * that was changed the long runs of its lines, and every line that names what the paste names, so that nothing becomes
 * typed by being edited around.
 */
export function foldEdited(text: string, pasted: readonly string[], pastes: Pastes): FoldedText {
  const parts = cutOut([{ text, isPasted: false }], pasted)
  const broken = pasted.filter((paste) => !isAmong(parts, paste))
  if (broken.length === 0) return toFolded(parts, pastes)
  const source: Source = { lines: new Set(broken.flatMap(splitLines)), whole: broken.join('\n') }
  const cut = parts.flatMap((part) => (part.isPasted ? [part] : cutLines(part.text, source)))
  return toFolded(cut, pastes)
}

/** Pasted parts of a text are expanded before it is edited elsewhere. */
export function pastedParts(text: string, pastes: Pastes): string[] {
  return [...new Set(text.match(new RegExp(PLACEHOLDER, 'gu')))].map((char) => expandPastes(char, pastes))
}

interface Part {
  text: string
  isPasted: boolean
}

/** Longer ones first: one may hold another. What was at the end of a text that was sent has lost its blanks. */
function cutOut(parts: readonly Part[], pasted: readonly string[]): readonly Part[] {
  const wanted = pasted.flatMap((paste) => [paste, paste.trimEnd()]).filter((paste) => paste.trim() !== '')
  return wanted.toSorted((a, b) => b.length - a.length).reduce(cutOne, parts)
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

/** What changed pastes said. */
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
/** What may stand behind a path without being a part of it: lines of a file, and punctuation. */
const BEHIND = /(?::\d+(?:-\d+)?)?[.,;:!?)\]}'`>]*$/

function splitLines(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trimEnd())
    .filter((line) => line !== '')
}

/** A character that would pass for a placeholder makes its part one. */
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
