import type { TerminalStreams } from '../../../cli/host.ts'

/** A terminal on which whole frames are drawn; disposing it restores the terminal. */
export interface FullScreen extends Disposable {
  /** Draws lines over the previous ones; the caller makes them fit. */
  draw(lines: readonly string[]): void
  size(): { columns: number; rows: number }
  /** Calls `onKeys` with typed keys, and `onResize` when the size has changed. */
  listen(onKeys: (keys: string) => void, onResize: () => void): void
}

/**
 * Takes over a terminal to draw frames. They are drawn over each other on its alternate screen, so that
 * nothing flickers and the previous content reappears afterwards, also after a crash and while this process
 * is stopped.
 */
export function openFullScreen({ stdin, stdout, hooks }: TerminalStreams): FullScreen {
  let last: readonly string[] = []
  const draw = (lines: readonly string[]) => {
    last = lines
    const body = lines.map((line) => `${line}${ERASE_LINE}`).join('\r\n')
    stdout.write(`${BEGIN}${HOME}${body}${ERASE_BELOW}${END}`)
  }
  const enter = () => {
    stdin.setRawMode(true)
    stdout.write(ENTER)
  }
  const leave = () => {
    hooks.writeNow(LEAVE)
    hooks.makeCooked()
  }
  const stack = new DisposableStack()
  const pause = () => {
    leave()
    hooks.stop()
    enter()
    draw(last)
  }
  stack.use(hooks.onStop(pause))
  const onExit = stack.use(hooks.onExit(leave))
  enter()
  return {
    draw,
    size: () => ({ columns: stdout.columns || 80, rows: stdout.rows || 24 }),
    listen(onKeys, onResize) {
      const onData = (piece: Buffer) => onKeys(piece.toString('latin1'))
      stdin.on('data', onData)
      stdout.on('resize', onResize)
      stack.defer(() => {
        stdin.off('data', onData)
        stdin.pause()
        stdout.off('resize', onResize)
      })
    },
    [Symbol.dispose]() {
      onExit[Symbol.dispose]()
      leave()
      stack.dispose()
    },
  }
}

/** Switches to the alternate screen and hides the cursor. */
const ENTER = '\u001b[?1049h\u001b[?25l'
const LEAVE = '\u001b[?25h\u001b[?1049l'
/** Marks synchronized output: terminals that support it show everything in between as one update. */
const BEGIN = '\u001b[?2026h'
const END = '\u001b[?2026l'
const HOME = '\u001b[H'
const ERASE_LINE = '\u001b[K'
const ERASE_BELOW = '\u001b[J'
