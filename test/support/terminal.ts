import { spawn } from '@lydell/node-pty'
import { until } from './until.ts'

export interface TerminalSize {
  columns?: number
  rows?: number
}

/** A program on its own terminal. */
export interface Terminal {
  readonly pid: number
  /** Returns everything written so far, including control sequences. */
  output(): string
  /** Calls back with every piece that is written afterwards. */
  onOutput(listener: (piece: string) => void): void
  /** Types keys; `\x03` is Ctrl-C. */
  type(keys: string): void
  resize(size: Required<TerminalSize>): void
  /** Hangs up the terminal, as when its window is closed. */
  hangUp(): void
  /** Waits until the output matches. */
  shows(pattern: RegExp): Promise<void>
  finished: Promise<{ code: number; signal: number }>
}

interface Options extends TerminalSize {
  env: Readonly<Record<string, string | undefined>>
  cwd: string
}

/** Starts a program whose standard streams are a new terminal, by default 80 by 24. */
export function openTerminal(command: string, args: readonly string[], options: Options): Terminal {
  const { cwd, columns = 80, rows = 24 } = options
  const env = Object.fromEntries(Object.entries(options.env).filter(([, value]) => value !== undefined))
  const pty = spawn(command, [...args], { name: 'xterm-256color', cols: columns, rows, cwd, env })
  let output = ''
  pty.onData((data) => {
    output += data
  })
  const finished = new Promise<{ code: number; signal: number }>((resolve) => {
    pty.onExit(({ exitCode, signal = 0 }) => resolve({ code: exitCode, signal }))
  })
  return {
    pid: pty.pid,
    output: () => output,
    onOutput: (listener) => void pty.onData(listener),
    type: (keys) => pty.write(keys),
    hangUp: () => (pty as unknown as { destroy(): void }).destroy(),
    resize: (size) => pty.resize(size.columns, size.rows),
    shows: (pattern) => until(`the terminal shows ${pattern}`, () => pattern.test(output)),
    finished,
  }
}
