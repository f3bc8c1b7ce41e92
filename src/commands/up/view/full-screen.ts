import type { TerminalStreams } from '../../host.ts'

/** A terminal on which whole frames are drawn, until it is disposed; then it is as it was. */
export interface FullScreen extends Disposable {
  /** Draws lines over those of before; what does not fit is the caller's concern. */
  draw(lines: readonly string[]): void
  size(): { columns: number; rows: number }
  /** Calls back with what is typed, and `resize` when the size has changed. */
  listen(onKeys: (keys: string) => void, onResize: () => void): void
}

/**
 * Takes a terminal for frames. They are drawn over each other on its other screen, so that nothing flickers, nothing is
 * cleared, and what the person had on it is there again afterwards, also after a crash and while this process is stopped.
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

/** The other screen, without a cursor. */
const ENTER = '\u001b[?1049h\u001b[?25l'
const LEAVE = '\u001b[?25h\u001b[?1049l'
/** Terminals that know it show what stands between at once. */
const BEGIN = '\u001b[?2026h'
const END = '\u001b[?2026l'
const HOME = '\u001b[H'
const ERASE_LINE = '\u001b[K'
const ERASE_BELOW = '\u001b[J'
