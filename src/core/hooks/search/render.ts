import { pluralize } from '../../base/format.ts'
import type { ToolOutput } from '../../runtime/hook.ts'
import type { CollectedItems } from './collect.ts'
import type { FoundFile, FoundLine } from './engine.ts'
import type { SearchTarget } from './target.ts'

/** The most lines of an answer, not counting file names. */
const MAX_LINES = 200
/** The approximate limit on the characters of an answer. */
const MAX_CHARS = 30_000

type Show = Pick<SearchTarget, 'show'>

/** Renders lines below the names of their files: `12:` before a matching line, `12-` before a context line. */
export function renderLines({ items, stopped }: CollectedItems<FoundLine>, target: Show): ToolOutput {
  const files = Map.groupBy(items, ({ path }) => path)
  const blocks: string[] = []
  const left = { lines: 0, files: 0 }
  let room = { lines: MAX_LINES, chars: MAX_CHARS }
  for (const path of [...files.keys()].toSorted(byPath)) {
    const lines = files.get(path)!
    const block = renderBlock(lines, room)
    room = { lines: room.lines - block.lines.length, chars: room.chars - block.chars }
    if (block.lines.length > 0) blocks.push([target.show(path), ...block.lines].join('\n'))
    const missing = lines.slice(block.taken).filter(({ matchAt }) => matchAt !== undefined).length
    left.lines += missing
    if (missing > 0) left.files++
  }
  const notes = [
    ...(items.length === 0 ? ['No matches.'] : []),
    ...(left.lines > 0 ? [`[${left.lines} more lines match, in ${pluralize(left.files, 'file')}]`] : []),
    ...stopNotes(stopped),
  ]
  return { output: [...blocks, ...notes].join('\n\n'), isError: false }
}

/** Renders names of files, with the number of matching lines after each if they were counted. */
export function renderFiles(
  { items, stopped }: CollectedItems<FoundFile>,
  { target, counted }: { target: Show; counted: boolean },
): ToolOutput {
  const files = items.toSorted((a, b) => byPath(a.path, b.path))
  const shown = files.slice(0, MAX_LINES)
  const left = files.length - shown.length
  const lines = [
    ...shown.map(({ path, lines }) => (counted ? `${target.show(path)}: ${lines}` : target.show(path))),
    ...(files.length === 0 ? ['No matches.'] : []),
    ...(left > 0 ? [`[${left} more]`] : []),
    ...stopNotes(stopped),
  ]
  return { output: lines.join('\n'), isError: false }
}

interface Block {
  lines: string[]
  chars: number
  /** The number of found lines that it contains. */
  taken: number
}

/** Renders as many lines as fit, with `--` where lines between two of them are left out. */
function renderBlock(found: readonly FoundLine[], room: { lines: number; chars: number }): Block {
  const block: Block = { lines: [], chars: 0, taken: 0 }
  const hasContext = found.some(({ matchAt }) => matchAt === undefined)
  for (const [index, line] of found.entries()) {
    const before = found[index - 1]
    const gap = hasContext && before && before.number + 1 < line.number ? ['--'] : []
    const text = [...gap, renderLine(line)]
    block.chars += text.join('\n').length
    if (block.lines.length + text.length > room.lines || block.chars > room.chars) break
    block.lines.push(...text)
    block.taken++
  }
  return block
}

function renderLine({ number, text, matchAt }: FoundLine): string {
  return `${number}${matchAt === undefined ? '-' : ':'}${text}`
}

function stopNotes(stopped: string | undefined): string[] {
  return stopped === undefined ? [] : [`[The search stopped ${stopped}; narrow it.]`]
}

function byPath(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
