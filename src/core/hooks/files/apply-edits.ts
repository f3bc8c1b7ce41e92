import type { Edit } from './arguments.ts'
import { explainMiss, type Obstacle } from './explain-miss.ts'
import { lineAt } from './text.ts'

/** A text after its edits. */
export interface EditedText {
  text: string
  /** The inserted ranges, as positions in the new text, in order. */
  places: { start: number; end: number }[]
}

/**
 * Applies all edits or none. Each edit searches the original text, so their order does not matter; they must
 * not overlap.
 *
 * `old` must occur exactly once, or with `all` at least once. In a text with CRLF a line feed in `old`
 * matches either line ending, and one in `new` takes the line ending used there. Every other byte stays the
 * same.
 */
export function applyEdits(text: string, edits: readonly Edit[]): EditedText | Obstacle {
  const source = toSource(text)
  let found: Replacement[] = []
  for (const [index, edit] of edits.entries()) {
    const name = edits.length === 1 ? 'old' : `edits[${index}].old`
    const replacements = locate(source, edit, name)
    if ('problem' in replacements) return withOrderHint(replacements, edit, edits.slice(0, index))
    found = found.concat(replacements.map((replacement) => ({ ...replacement, index })))
  }
  found.sort((a, b) => a.start - b.start)
  return findOverlap(found, text) ?? checkResultSize(text, found) ?? splice(text, found)
}

/** A range of the original text, its replacement, and the index of the edit. */
interface Replacement {
  start: number
  end: number
  text: string
  index: number
}

/** A text, with a copy that has line feeds only, in which edits are searched for. */
interface Source {
  original: string
  plain: string
  /** The positions in `plain` of the line feeds that stand for CRLF. */
  joints: number[]
}

function toSource(original: string): Source {
  if (!original.includes('\r\n')) return { original, plain: original, joints: [] }
  const joints: number[] = []
  const plain = original.replace(/\r\n/g, (_, at: number) => {
    joints.push(at - joints.length)
    return '\n'
  })
  return { original, plain, joints }
}

/** Converts a position in the plain text to one in the original. */
function toOriginal({ joints }: Source, position: number): number {
  let [low, high] = [0, joints.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (joints[middle]! < position) low = middle + 1
    else high = middle
  }
  return position + low
}

function locate(source: Source, edit: Edit, name: string): Omit<Replacement, 'index'>[] | Obstacle {
  const hasCrlf = source.joints.length > 0
  const old = hasCrlf ? toPlain(edit.old) : edit.old
  const replacement = hasCrlf ? toPlain(edit.new) : edit.new
  if (old === replacement)
    return { problem: `${name} and new differ only in line endings, and edits keep those of the file` }
  const starts = edit.all ? findAll(source.plain, old) : findSome(source.plain, old)
  if (starts.length === 0) return explainMiss(source.plain, { ...edit, old, new: replacement }, name)
  if (starts.length > 1 && !edit.all) return ambiguity(source.plain, starts, name)
  return starts.map((at) => {
    const start = toOriginal(source, at)
    const feed = hasCrlf ? lineEndAt(source.original, start) : '\n'
    return {
      start,
      end: toOriginal(source, at + old.length),
      text: feed === '\n' ? replacement : replacement.replaceAll('\n', feed),
    }
  })
}

function toPlain(text: string): string {
  return text.replaceAll('\r\n', '\n')
}

/** Finds all occurrences of a text, without overlaps. */
function findAll(text: string, old: string): number[] {
  const positions: number[] = []
  for (let at = text.indexOf(old); at !== -1; at = text.indexOf(old, at + old.length)) positions.push(at)
  return positions
}

const MAX_COUNTED = 1_000

/** Finds occurrences of a text, including overlapping ones, up to MAX_COUNTED. */
function findSome(text: string, old: string): number[] {
  const positions: number[] = []
  for (
    let at = text.indexOf(old);
    at !== -1 && positions.length < MAX_COUNTED;
    at = text.indexOf(old, at + 1)
  )
    positions.push(at)
  return positions
}

/** Returns the ending of the line at a position; a last line without one takes that of the line before it. */
function lineEndAt(text: string, position: number): string {
  const next = text.indexOf('\n', position)
  const feed = next === -1 ? text.lastIndexOf('\n') : next
  return text[feed - 1] === '\r' ? '\r\n' : '\n'
}

const MAX_LISTED = 10

function ambiguity(text: string, starts: readonly number[], name: string): Obstacle {
  const lines = [...new Set(starts.slice(0, MAX_LISTED).map((start) => lineAt(text, start)))]
  const more = starts.length > MAX_LISTED ? ', …' : ''
  return {
    problem: `${name} occurs ${starts.length < MAX_COUNTED ? '' : 'at least '}${starts.length} times, at lines ${lines.join(', ')}${more}`,
    hint: 'add lines around it to old, or set all',
  }
}

/**
 * Adds a hint when an earlier edit would insert the text: models often think of edits as applied one after
 * another.
 */
function withOrderHint(obstacle: Obstacle, { old }: Edit, earlier: readonly Edit[]): Obstacle {
  if (!earlier.some((edit) => edit.new.includes(old))) return obstacle
  return { ...obstacle, hint: 'an earlier edit would add it, but all edits apply to the original file' }
}

function findOverlap(found: readonly Replacement[], text: string): Obstacle | undefined {
  const at = found.findIndex((replacement, index) => index > 0 && replacement.start < found[index - 1]!.end)
  if (at === -1) return undefined
  const [first, second] = [found[at - 1]!.index, found[at]!.index].toSorted((a, b) => a - b)
  const line = lineAt(text, found[at]!.start)
  return {
    problem: `edits[${first}] and edits[${second}] overlap at line ${line}`,
    hint: 'combine them into one edit',
  }
}

/** The largest text that an edit may produce, in UTF-16 units. */
const MAX_CHARS = 64 * 1024 * 1024

function checkResultSize(text: string, found: readonly Replacement[]): Obstacle | undefined {
  const length = found.reduce(
    (sum, { start, end, text: put }) => sum + put.length - (end - start),
    text.length,
  )
  return length > MAX_CHARS ? { problem: `it would become too large: ${length} characters` } : undefined
}

function splice(text: string, found: readonly Replacement[]): EditedText {
  const parts: string[] = []
  const places: EditedText['places'] = []
  let [from, length] = [0, 0]
  for (const { start, end, text: insert } of found) {
    parts.push(text.slice(from, start), insert)
    length += start - from + insert.length
    places.push({ start: length - insert.length, end: length })
    from = end
  }
  parts.push(text.slice(from))
  return { text: parts.join(''), places }
}
