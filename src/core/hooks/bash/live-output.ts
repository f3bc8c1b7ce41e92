import type { OutputFilter } from '../../process/run-command.ts'
import type { ToolDispatch } from '../../runtime/hook.ts'

/**
 * Wraps an output filter, and reports the newest lines that a command prints at intervals until it is
 * disposed.
 */
export function liveOutput(
  filter: () => OutputFilter,
  report: ToolDispatch['progress'],
): { filter: () => OutputFilter } & Disposable {
  let newest = ''
  let timer: NodeJS.Timeout | undefined
  const say = () => {
    timer = undefined
    report({ message: newest })
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

/** Returns the last lines of the old and the new output, without blank lines. */
function takeLastLines(before: string, piece: Buffer): string {
  const text = before + piece.subarray(-MAX_BYTES).toString()
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  return lines
    .slice(-LINES)
    .map((line) => `${line.slice(0, LINE_CHARS).toWellFormed()}\n`)
    .join('')
}

/** The interval between reports, in milliseconds. A command that ends sooner is shown only by its result. */
const INTERVAL_MS = 400
const LINES = 3
/** The most UTF-16 units of a line, because reports are stored in the journals of all followers. */
const LINE_CHARS = 200
/** The most bytes of a piece of output that are examined. */
const MAX_BYTES = 4096
