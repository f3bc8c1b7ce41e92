import assert from 'node:assert/strict'
import { once } from 'node:events'
import { kill } from './processes.ts'
import { makeVirtualTerminal, type VirtualTerminal } from './screen.ts'
import type { Talk } from './talk.ts'
import type { Terminal } from './terminal.ts'

/** A program on a terminal, and what a user would see. Disposing ends it if it is still running. */
export interface Session extends AsyncDisposable {
  readonly screen: VirtualTerminal
  readonly pid: number
  /** Everything written so far, control sequences included. */
  bytes(): string
  type(text: string): void
  press(...keys: Key[]): void
  /** Pastes text the way a terminal with bracketed paste does. */
  paste(text: string): void
  /** Waits until a row of the screen matches, or the condition holds; checks after every write. */
  shows(what: RegExp | string | ((screen: VirtualTerminal) => boolean)): Promise<void>
  /** Waits until the text of the screen and its scrollback matches. */
  holds(what: RegExp | string): Promise<void>
  /** Hangs up the terminal, as when its window is closed. */
  hangUp(): void
  /** Resizes both ends. */
  resize(columns: number, rows: number): Promise<void>
  finished: Promise<{ code: number; signal: number }>
}

const KEYS = {
  enter: '\r',
  esc: '\u001b',
  tab: '\t',
  backspace: '\u007f',
  up: '\u001b[A',
  down: '\u001b[B',
  right: '\u001b[C',
  left: '\u001b[D',
  home: '\u001b[H',
  end: '\u001b[F',
  delete: '\u001b[3~',
  'page-up': '\u001b[5~',
  'page-down': '\u001b[6~',
  'alt+up': '\u001b[1;3A',
  'alt+enter': '\u001b\r',
  'shift+tab': '\u001b[Z',
  'ctrl+c': '\u0003',
  'ctrl+d': '\u0004',
  'ctrl+g': '\u0007',
  'ctrl+j': '\n',
  'ctrl+l': '\u000c',
  'ctrl+o': '\u000f',
  'ctrl+r': '\u0012',
  'ctrl+t': '\u0014',
  'ctrl+u': '\u0015',
  'ctrl+z': '\u001a',
} as const

export type Key = keyof typeof KEYS

export interface SessionOptions {
  columns?: number
  rows?: number
  env?: Readonly<Record<string, string | undefined>>
  cwd?: string
}

/** Starts the chat of a talk; `args` begin with `chat`, or are empty. */
export function openChat(
  talk: Talk,
  args: readonly string[] = ['chat'],
  options: SessionOptions = {},
): Session {
  const env = { ...TERMINAL, ...options.env }
  return followTerminal(talk.terminal(args, { ...options, env }), options)
}

/** Runs a line of /bin/sh on a terminal, in which `crabtalk` is a command. */
export function openShell(talk: Talk, script: string, options: SessionOptions = {}): Session {
  const env = { ...TERMINAL, ...options.env }
  return followTerminal(talk.terminalShell(script, { ...options, env }), options)
}

/** Draws the output of a program on a terminal, and answers its queries. */
export function followTerminal(
  terminal: Terminal,
  { columns = 80, rows = 24 }: SessionOptions = {},
): Session {
  const screen = makeVirtualTerminal({ columns, rows })
  const seen = new EventTarget()
  let drawn = ''
  const take = async (piece: string) => {
    await screen.feed(piece)
    drawn += piece
    if (isWhole(drawn)) seen.dispatchEvent(new Event('change'))
  }
  terminal.onOutput((piece) => void take(piece))
  screen.onReply((bytes) => terminal.type(bytes))
  const waitFor = (what: string, holds: () => boolean) =>
    waitUntil({ seen, screen, terminal }, what, () => isWhole(drawn) && holds())
  return {
    screen,
    pid: terminal.pid,
    bytes: terminal.output,
    type: (text) => terminal.type(text),
    press: (...keys) => terminal.type(keys.map((key) => KEYS[key]).join('')),
    paste: (text) => terminal.type(`\u001b[200~${text}\u001b[201~`),
    shows: (what) => waitFor(`the screen shows ${what}`, toCondition(what, screen)),
    holds: (what) => waitFor(`the terminal holds ${what}`, () => matches(screen.text(), what)),
    hangUp: () => terminal.hangUp(),
    async resize(width, height) {
      await screen.settled()
      screen.resize(width, height)
      terminal.resize({ columns: screen.columns, rows: screen.rows })
    },
    finished: terminal.finished.then(async (end) => {
      await screen.settled()
      return end
    }),
    async [Symbol.asyncDispose]() {
      const hasEnded = await Promise.race([terminal.finished, undefined])
      if (!hasEnded) kill(terminal.pid)
      await terminal.finished
      screen[Symbol.dispose]()
    },
  }
}

/** Whether the last frame is complete: a terminal does not show an unfinished synchronized update. */
function isWhole(drawn: string): boolean {
  return drawn.lastIndexOf('\u001b[?2026h') <= drawn.lastIndexOf('\u001b[?2026l')
}

function toCondition(
  what: RegExp | string | ((screen: VirtualTerminal) => boolean),
  screen: VirtualTerminal,
): () => boolean {
  return typeof what === 'function' ? () => what(screen) : () => matches(screen.lines(), what)
}

function matches(lines: readonly string[], what: RegExp | string): boolean {
  return typeof what === 'string'
    ? lines.some((line) => line.includes(what))
    : lines.some((line) => what.test(line)) || what.test(lines.join('\n'))
}

interface Watched {
  seen: EventTarget
  screen: VirtualTerminal
  terminal: Terminal
}

async function waitUntil(
  { seen, screen, terminal }: Watched,
  what: string,
  holds: () => boolean,
): Promise<void> {
  const signal = AbortSignal.timeout(PATIENCE_MS)
  let isOver = false
  void terminal.finished.then(async () => {
    await screen.settled()
    isOver = true
    seen.dispatchEvent(new Event('change'))
  })
  await screen.settled()
  while (!holds()) {
    const shown = () => `${what}; it shows:\n${screen.lines().join('\n').trimEnd()}`
    if (isOver) assert.fail(`The program ended before ${shown()}`)
    await once(seen as EventTarget, 'change', { signal }).catch(() =>
      assert.fail(`Waited 30 s until ${shown()}`),
    )
  }
}

/**
 * The variables that identify the terminal: programs use them to know how it wraps lines when it is resized.
 */
const TERMINAL = { TERM: 'xterm-256color', TERM_PROGRAM: 'vscode', COLORTERM: '', NO_COLOR: '' }
const PATIENCE_MS = 30_000
