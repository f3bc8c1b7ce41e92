import { EventEmitter } from 'node:events'
import xterm from '@xterm/headless'

/** A terminal in memory: shows what a user would see of the bytes written to it. */
export interface VirtualTerminal extends Disposable {
  readonly columns: number
  readonly rows: number
  /** Resolves when the bytes have taken effect. */
  feed(bytes: string | Uint8Array): Promise<void>
  /** Resolves when everything fed so far has taken effect. */
  settled(): Promise<void>
  resize(columns: number, rows: number): void
  /** The rows on the screen, without blanks at their ends. */
  lines(): string[]
  /** The rows that have left the screen at the top. */
  scrollback(): string[]
  /** Returns scrollback and screen as lines, with wrapped rows joined and without blank lines at the end. */
  text(): string[]
  /** Returns the screen with its colors and styles as SGR, each run in its shortest form. */
  styled(): string[]
  cursor(): { x: number; y: number }
  /** Calls the listener with the terminal's answers to queries. */
  onReply(listener: (bytes: string) => void): void
}

interface Options {
  columns?: number
  rows?: number
  /** The number of lines kept above the screen. */
  scrollback?: number
  /**
   * False for a terminal like the console of Windows 10, which truncates lines instead of wrapping them when it
   * gets narrower.
   */
  reflows?: boolean
}

/**
 * Creates a terminal of xterm.js, which rewraps lines when it is resized, as most terminals do. It is at least
 * 2 columns wide.
 */
export function makeVirtualTerminal(options: Options = {}): VirtualTerminal {
  const { columns = 80, rows = 24, scrollback = 100_000, reflows = true } = options
  const terminal = new xterm.Terminal({
    cols: columns,
    rows,
    scrollback,
    allowProposedApi: true,
    ...(reflows ? {} : { windowsPty: { backend: 'conpty' as const, buildNumber: 18_000 } }),
  })
  const buffer = () => terminal.buffer.active
  const row = (at: number) => buffer().getLine(at)?.translateToString(true, 0, terminal.cols) ?? ''
  const range = (start: number, end: number) =>
    Array.from({ length: end - start }, (_, at) => row(start + at))
  const feed = (bytes: string | Uint8Array) => new Promise<void>((resolve) => terminal.write(bytes, resolve))
  return {
    get columns() {
      return terminal.cols
    },
    get rows() {
      return terminal.rows
    },
    feed,
    settled: () => feed(''),
    resize: (width, height) => terminal.resize(Math.max(2, width), Math.max(1, height)),
    lines: () => range(buffer().baseY, buffer().baseY + terminal.rows),
    scrollback: () => range(0, buffer().baseY),
    text: () => unwrapped(terminal),
    styled: () => Array.from({ length: terminal.rows }, (_, at) => toStyled(terminal, buffer().baseY + at)),
    cursor: () => ({ x: buffer().cursorX, y: buffer().cursorY }),
    onReply: (listener) => void terminal.onData(listener),
    [Symbol.dispose]: () => terminal.dispose(),
  }
}

/** A stream for a program's output. */
export interface TestStream extends EventEmitter {
  columns: number
  rows: number
  writableNeedDrain: boolean
  bytes(): string
  /** Returns the bytes of each write. */
  writes(): readonly string[]
  write(bytes: string, done?: () => void): boolean
}

/**
 * Creates the terminal stream of a program whose bytes go into a virtual terminal; `bytes()` returns all that
 * was written.
 */
export function streamTo(terminal: VirtualTerminal): TestStream {
  const pieces: string[] = []
  return Object.assign(new EventEmitter(), {
    columns: terminal.columns,
    rows: terminal.rows,
    writableNeedDrain: false,
    bytes: () => pieces.join(''),
    writes: () => pieces,
    write(bytes: string, done?: () => void) {
      pieces.push(bytes)
      void terminal.feed(bytes.replaceAll(/(?<!\r)\n/g, '\r\n')).then(done) // as the line discipline does
      return true
    },
  })
}

function unwrapped({ cols, buffer: { active } }: xterm.Terminal): string[] {
  const lines: string[] = []
  for (let at = 0; at < active.length; at++) {
    const row = active.getLine(at)!
    const next = active.getLine(at + 1)
    const text = row.translateToString(!next?.isWrapped, 0, cols)
    if (row.isWrapped && lines.length > 0) lines[lines.length - 1] += text
    else lines.push(text)
  }
  while (lines.at(-1) === '') lines.pop()
  return lines
}

function toStyled(terminal: xterm.Terminal, at: number): string {
  const row = terminal.buffer.active.getLine(at)
  const width = row?.translateToString(true).length ?? 0
  if (!row || width === 0) return ''
  let text = ''
  let style = ''
  for (let x = 0; x < terminal.cols; x++) {
    const cell = row.getCell(x)
    if (!cell || cell.getWidth() === 0) continue
    const next = toSgr(cell)
    if (next !== style) text += `\u001b[0${next}m`
    style = next
    text += cell.getChars() || ' '
  }
  return `${text.trimEnd()}${style === '' ? '' : '\u001b[0m'}`
}

/** Returns the SGR parameters, each after a semicolon. */
function toSgr(cell: xterm.IBufferCell): string {
  const flags: readonly (readonly [number, number])[] = [
    [cell.isBold(), 1],
    [cell.isDim(), 2],
    [cell.isItalic(), 3],
    [cell.isUnderline(), 4],
    [cell.isInverse(), 7],
    [cell.isStrikethrough(), 9],
  ]
  const parts = flags.filter(([isOn]) => isOn !== 0).map(([, code]) => `${code}`)
  if (cell.isFgPalette()) parts.push(toColor(cell.getFgColor(), 30))
  if (cell.isBgPalette()) parts.push(toColor(cell.getBgColor(), 40))
  if (cell.isFgRGB()) parts.push(`38;2;${toRgb(cell.getFgColor())}`)
  if (cell.isBgRGB()) parts.push(`48;2;${toRgb(cell.getBgColor())}`)
  return parts.map((part) => `;${part}`).join('')
}

function toColor(color: number, base: number): string {
  if (color < 8) return `${base + color}`
  return color < 16 ? `${base + 52 + color}` : `${base + 8};5;${color}`
}

function toRgb(color: number): string {
  return [16, 8, 0].map((shift) => (color >> shift) & 0xff).join(';')
}
