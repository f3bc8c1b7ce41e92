/**
 * A line of a diff. `number` counts in the file after the change, or before it for a removed line; 0 when
 * unknown.
 */
export interface DiffLine {
  kind: 'added' | 'removed' | 'same' | 'gap'
  number: number
  text: string
}

/** Parses a unified diff; undefined when the text is not one. Notes about line breaks are left out unless `keepsNotes`. */
export function readUnifiedDiff(diff: string, keepsNotes = false): DiffLine[] | undefined {
  const lines: DiffLine[] = []
  let [before, after] = [0, 0]
  let isIn = false
  for (const line of diff.replace(/\n$/, '').split('\n')) {
    const hunk = HUNK.exec(line)
    if (hunk) {
      if (isIn) lines.push({ kind: 'gap', number: 0, text: '' })
      ;[before, after, isIn] = [Number(hunk[1]), Number(hunk[2]), true]
      continue
    }
    if (!isIn || (line.startsWith('\\') && !keepsNotes)) continue
    const text = line.slice(1)
    if (line.startsWith('+')) lines.push({ kind: 'added', number: after++, text })
    else if (line.startsWith('-')) lines.push({ kind: 'removed', number: before++, text })
    else if (line.startsWith('[…')) lines.push({ kind: 'gap', number: 0, text: line })
    else if (line.startsWith('\\')) lines.push({ kind: 'gap', number: 0, text })
    else {
      lines.push({ kind: 'same', number: after++, text })
      before++
    }
  }
  return isIn ? lines : undefined
}

/**
 * Parses a unified diff of which every line is shown; undefined when a line is not part of a hunk. The note
 * about a missing line break at the end of the file stays.
 */
export function readWholeDiff(diff: string): DiffLine[] | undefined {
  const text = diff.replace(/\n$/, '').split('\n')
  const isWhole =
    HUNK.test(text[0] ?? '') && text.every((line) => HUNK.test(line) || /^[-+ \\]|^\[…/.test(line))
  return isWhole ? readUnifiedDiff(diff, true) : undefined
}

const HUNK = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/

/** The number of context lines around a change. */
const AROUND = 2

/** Diffs two texts: their common start and end are unchanged, everything between counts as replaced. */
export function diffTexts(before: string, after: string, firstNumber: number): DiffLine[] {
  const [old, fresh] = [toLines(before), toLines(after)]
  let head = 0
  while (head < Math.min(old.length, fresh.length) && old[head] === fresh[head]) head++
  let tail = 0
  while (tail < Math.min(old.length, fresh.length) - head && old.at(-1 - tail) === fresh.at(-1 - tail)) tail++
  const numbered = (kind: DiffLine['kind'], lines: readonly string[], from: number): DiffLine[] =>
    lines.map((text, i) => ({ kind, number: firstNumber === 0 ? 0 : firstNumber + from + i, text }))
  const start = Math.max(0, head - AROUND)
  const end = fresh.length - tail
  return [
    ...numbered('same', fresh.slice(start, head), start),
    ...numbered('removed', old.slice(head, old.length - tail), head),
    ...numbered('added', fresh.slice(head, end), head),
    ...numbered('same', fresh.slice(end, Math.min(fresh.length, end + AROUND)), end),
  ]
}

function toLines(text: string): string[] {
  if (text === '') return []
  return text.replaceAll('\r\n', '\n').replace(/\n$/, '').split('\n')
}
