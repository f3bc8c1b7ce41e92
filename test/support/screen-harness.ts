import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { type Instance, render, Text, useCursor, useStdout, useWindowSize } from 'ink'
import { createElement, type ReactNode, useLayoutEffect, useSyncExternalStore } from 'react'
import stringWidth from 'string-width'
import type { Reflow } from '../../src/tui/terminal/reflow.ts'
import { Screen } from '../../src/tui/terminal/screen.ts'
import { makeVirtualTerminal, streamTo, type VirtualTerminal } from './screen.ts'
import { until } from './until.ts'

type Caret = { x: number; y: number } | undefined

/** An Ink app that renders given content on a Screen of a virtual terminal. */
export interface ScreenHarness extends Disposable {
  readonly terminal: VirtualTerminal
  readonly screen: Screen
  readonly output: ReturnType<typeof streamTo>
  bytes(): string
  print(line: string): void
  show(lines: readonly string[], caret?: Caret): void
  /**
   * Resizes after the terminal has processed what was written, because bytes in transit are drawn for another
   * width.
   */
  resize(columns: number, rows: number): Promise<void>
  /** Resolves when Ink has written its output. */
  flush(): Promise<void>
  /** Resolves when Ink and the Screen have nothing more to draw. */
  settle(): Promise<void>
  /** Fails unless everything printed appears once, in order, and then the frame once, with its caret. */
  check(): void
}

interface Options {
  columns: number
  rows: number
  reflow?: Reflow
  intervalMs?: number
  onGone?: (reason: Error) => void
}

interface Shown {
  lines: readonly string[]
  caret: Caret
}

export function makeScreenHarness({
  columns,
  rows,
  reflow = 'xterm.js',
  intervalMs = 1,
  ...rest
}: Options): ScreenHarness {
  const terminal = makeVirtualTerminal({ columns, rows, reflows: reflow !== 'none' })
  const output = streamTo(terminal)
  const screen = new Screen({ output, reflow, intervalMs, ...rest })
  const store = makeStore()
  const app = render(createElement(App, { store }), {
    stdout: screen.ink,
    stdin: new PassThrough() as unknown as NodeJS.ReadStream,
    interactive: true,
    patchConsole: false,
    exitOnCtrlC: false,
    maxFps: 1000,
  })
  const printed: string[] = []
  /**
   * Whether rows of a frame may be left over, because the screen became too low for them, or xterm.js became
   * lower and narrower in one step.
   */
  let isTorn = false
  return {
    terminal,
    screen,
    output,
    bytes: output.bytes,
    print(line) {
      printed.push(line)
      store.print(line)
    },
    show: (lines, caret) => store.show({ lines, caret }),
    async resize(width, height) {
      await terminal.settled()
      const { columns, rows } = terminal
      const before = framesAbove(terminal)
      terminal.resize(width, height)
      isTorn ||= framesAbove(terminal) !== before
      isTorn ||= reflow === 'xterm.js' && terminal.columns < columns && terminal.rows < rows
      Object.assign(output, { columns: terminal.columns, rows: terminal.rows })
      output.emit('resize')
    },
    flush: () => app.waitUntilRenderFlush(),
    settle: () => settle({ app, screen, terminal }),
    check() {
      assert.doesNotMatch(output.bytes(), CLEARS)
      check(terminal, { printed, shown: fit(store.get(), terminal), isTorn, isCut: reflow === 'none' })
    },
    [Symbol.dispose]() {
      app.unmount()
      screen[Symbol.dispose]()
    },
  }
}

async function settle({
  app,
  screen,
  terminal,
}: {
  app: Instance
  screen: Screen
  terminal: VirtualTerminal
}): Promise<void> {
  await app.waitUntilRenderFlush()
  await until('the screen is quiet', () => screen.isQuiet)
  await app.waitUntilRenderFlush()
  await terminal.settled()
}

interface Checked {
  printed: readonly string[]
  shown: Shown
  isTorn: boolean
  isCut: boolean
}

function check(terminal: VirtualTerminal, { printed, shown, isTorn, isCut }: Checked): void {
  // A terminal that truncates lines also truncates those of the scrollback; a row that begins otherwise
  // continues the one above.
  const toSeen = (line: string) => (isCut && line.startsWith('P') ? line.slice(0, 2) : bare(line))
  const rows = [...terminal.scrollback(), ...terminal.lines()].filter((row) => /^[PF]/.test(row))
  const text = trimmed((isCut ? rows : terminal.text()).map(toSeen))
  const frame = shown.lines.map(bare)
  const expected = [...printed.map(toSeen), ...frame]
  if (!isTorn) assert.deepEqual(text, trimmed(expected))
  else {
    assert.deepEqual(
      text.filter((line) => line.startsWith('P')),
      printed.map(toSeen),
    )
    assert.deepEqual(text.slice(text.length - trimmed(frame).length), trimmed(frame))
  }
  if (shown.caret) checkCaret(terminal, shown)
}

/** Checks that the caret's line begins with the text before the caret. */
function checkCaret(terminal: VirtualTerminal, { lines, caret }: Shown): void {
  const { x, y } = terminal.cursor()
  const line = lines[caret!.y]!
  assert.equal(x, Math.min(caret!.x, terminal.columns - 1))
  assert.equal(bare(terminal.lines()[y]!), bare(line))
}

/** Counts the rows of frames that have left the screen. */
function framesAbove(terminal: VirtualTerminal): number {
  return terminal.scrollback().filter((row) => row.startsWith('F')).length
}

/** Removes trailing spaces, because a row may end in one where a wide character did not fit. */
function bare(line: string): string {
  return line.replaceAll(' ', '')
}

function trimmed(lines: readonly string[]): readonly string[] {
  return lines.slice(0, lines.findLastIndex((line) => line !== '') + 1)
}

function App({ store }: { store: Store }): ReactNode {
  const shown = useSyncExternalStore(store.subscribe, store.get)
  const { write } = useStdout()
  const { setCursorPosition } = useCursor()
  const { lines, caret } = fit(shown, useWindowSize())
  useLayoutEffect(() => {
    const printed = store.take()
    if (printed.length > 0) write(printed.map((line) => `${line}\n`).join(''))
  })
  setCursorPosition(caret)
  return createElement(Text, { wrap: 'truncate' }, lines.map((line) => line || ' ').join('\n'))
}

/** Fits lines like the chat does: not wider than the terminal, and fewer than it has rows. */
function fit({ lines, caret }: Shown, { columns, rows }: { columns: number; rows: number }): Shown {
  const start = Math.max(0, lines.length - Math.max(0, rows - 1))
  const y = (caret?.y ?? 0) - start
  const isInside = caret !== undefined && y >= 0 && caret.y < lines.length
  return {
    lines: lines.slice(start).map((line) => clip(line, columns)),
    caret: isInside ? { x: caret.x, y } : undefined,
  }
}

function clip(line: string, columns: number): string {
  let clipped = ''
  for (const { segment } of new Intl.Segmenter().segment(line)) {
    if (stringWidth(clipped + segment) > columns) break
    clipped += segment
  }
  return clipped.trimEnd()
}

type Store = ReturnType<typeof makeStore>

function makeStore() {
  let shown: Shown = { lines: [], caret: undefined }
  const waiting: string[] = []
  let listener = () => {}
  return {
    get: () => shown,
    take: () => waiting.splice(0),
    subscribe(changed: () => void) {
      listener = changed
      return () => {}
    },
    show(next: Shown) {
      shown = next
      listener()
    },
    print(line: string) {
      waiting.push(line)
      shown = { ...shown }
      listener()
    },
  }
}

/**
 * Sequences that clear the screen or its scrollback, reset the terminal, or address the screen instead of the
 * frame.
 */
const ESC = '\u001b'
const CLEARS = new RegExp(`${ESC}(?:\\[[23]J|c|\\[\\d*(?:;\\d*)?[Hfd])`)
