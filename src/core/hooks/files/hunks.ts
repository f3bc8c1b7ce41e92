import { takeStart } from '../../base/truncate.ts'
import type { EditedText } from './apply-edits.ts'
import { linesAt } from './text.ts'

/** The number of lines shown around each end of a changed place. */
const AROUND = 2
/** The most lines shown in all. */
const MAX_LINES = 40
const MAX_LINE_CHARS = 200

/**
 * Renders the ends of the changed places with the lines around them, each block below its line numbers.
 *
 * Like those that `read` returns, the lines themselves have no numbers: the model can copy what it sees into
 * `old`.
 */
export function renderHunks({ text, places }: EditedText): string {
  const lines = text.split('\n').map((line) => line.replace(/\r$/, ''))
  if (lines.at(-1) === '') lines.pop()
  if (lines.length === 0) return '[The file is empty now.]'
  const ends = places.flatMap(({ start, end }) => [start, Math.max(start, end - 1)])
  const all = findHunks(linesAt(text, ends), lines.length)
  const blocks = limitHunks(all, MAX_LINES)
  const shown = blocks.flatMap(({ first, last }) => [
    `[lines ${first}-${last} of ${lines.length}]`,
    ...lines.slice(first - 1, last).map(shorten),
  ])
  const isAll = countHunkLines(blocks) === countHunkLines(all)
  return [...shown, ...(isAll ? [] : ['[and more]'])].join('\n')
}

interface Hunk {
  first: number
  last: number
}

/** Merges the surroundings of these lines, which are in order, into as few blocks as possible. */
function findHunks(centers: readonly number[], total: number): Hunk[] {
  const blocks: Hunk[] = []
  for (const center of centers) {
    const first = Math.max(1, Math.min(center, total) - AROUND)
    const last = Math.min(total, center + AROUND)
    const previous = blocks.at(-1)
    if (previous && first <= previous.last + 1) previous.last = Math.max(previous.last, last)
    else blocks.push({ first, last })
  }
  return blocks
}

/** Returns the first `room` lines of these blocks. */
function limitHunks(blocks: readonly Hunk[], room: number): Hunk[] {
  const taken: Hunk[] = []
  let left = room
  for (const { first, last } of blocks) {
    if (left === 0) break
    const block = { first, last: Math.min(last, first + left - 1) }
    taken.push(block)
    left -= countHunkLines([block])
  }
  return taken
}

function countHunkLines(blocks: readonly Hunk[]): number {
  return blocks.reduce((size, { first, last }) => size + last - first + 1, 0)
}

function shorten(line: string): string {
  return line.length > MAX_LINE_CHARS ? `${takeStart(line, MAX_LINE_CHARS)}…` : line
}
