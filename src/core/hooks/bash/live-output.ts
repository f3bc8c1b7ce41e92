import type { OutputFilter } from '../../process/run-command.ts'
import type { ToolDispatch } from '../../runtime/hook.ts'

/** Watches what a command prints, behind a filter, and says its newest lines now and then until it is disposed. */
export function liveOutput(
  filter: () => OutputFilter,
  tell: ToolDispatch['progress'],
): { filter: () => OutputFilter } & Disposable {
  let newest = ''
  let timer: NodeJS.Timeout | undefined
  const say = () => {
    timer = undefined
    tell({ message: newest })
  }
  const watch = (piece: Buffer) => {
    const lines = takeLastLines(newest, piece)
    if (lines === newest) return
    newest = lines
    timer ??= setTimeout(say, INTERVAL_MS)
  }
  return {
    filter() {
      const clean = filter()
      return (piece, isEnd) => {
        const shown = clean(piece, isEnd)
        watch(shown)
        return shown
      }
    },
    [Symbol.dispose]: () => clearTimeout(timer),
  }
}

/** The last lines of what there was and what has come, without those that say nothing. */
function takeLastLines(before: string, piece: Buffer): string {
  const text = before + piece.subarray(-MOST_BYTES).toString()
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  return lines
    .slice(-LINES)
    .map((line) => `${line.slice(0, LINE_CHARS).toWellFormed()}\n`)
    .join('')
}

/** A command that ends sooner is shown by what it gave. */
const INTERVAL_MS = 400
const LINES = 3
/** UTF-16 units of a line: what is said goes into the journals of all who follow. */
const LINE_CHARS = 200
/** Bytes of a piece that are looked at. */
const MOST_BYTES = 4096
