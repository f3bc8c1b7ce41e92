import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { spawn } from '@lydell/node-pty'
import xterm from '@xterm/headless'
import { endProcesses } from '../test/support/processes.ts'

/** A program on a terminal of 100 by 30. */
export interface ScreenProgram {
  command: string
  args: readonly string[]
  env: Readonly<Record<string, string>>
  cwd: string
}

/** A program that runs on a terminal, with the times at which it wrote. Disposing it ends it, and what it left behind. */
export interface Screen extends AsyncDisposable {
  readonly pid: number
  /** When it was started. */
  readonly startedAt: number
  /** When it wrote, ascending; one time for what came together. */
  readonly writes: readonly { at: number; bytes: string }[]
  type(keys: string): void
  /** Resolves with the time of the write that made the screen match. Fails when that takes too long. */
  shows(pattern: RegExp): Promise<number>
  /** The time of its end. */
  ended: Promise<number>
}

const COLUMNS = 100
const ROWS = 30
const TIMEOUT_MS = 60_000

/** Starts a program on a terminal whose screen is read as it is drawn. */
export function openScreen({ command, args, env, cwd }: ScreenProgram): Screen {
  const mark = `bench-${process.pid}-${opened++}`
  const terminal = new xterm.Terminal({ cols: COLUMNS, rows: ROWS, allowProposedApi: true, scrollback: 0 })
  const startedAt = performance.now()
  const pty = spawn(command, [...args], {
    name: 'xterm-256color',
    cols: COLUMNS,
    rows: ROWS,
    cwd,
    env: { PATH: process.env['PATH'], LANG: 'C.UTF-8', TERM: 'xterm-256color', ...env, CRAB_BENCH: mark },
  })
  const writes: { at: number; bytes: string }[] = []
  const waiting = new Set<(at: number) => void>()
  pty.onData((bytes) => {
    const at = performance.now()
    writes.push({ at, bytes })
    terminal.write(bytes, () => {
      for (const look of waiting) look(at)
    })
  })
  terminal.onData((reply) => pty.write(reply)) // programs ask the terminal what it is
  const ended = new Promise<number>((resolve) => pty.onExit(() => resolve(performance.now())))
  return {
    pid: pty.pid,
    startedAt,
    writes,
    type: (keys) => pty.write(keys),
    shows: (pattern) => waitFor(terminal, pattern, waiting),
    ended,
    async [Symbol.asyncDispose]() {
      pty.kill('SIGKILL')
      await ended
      await endProcesses(`CRAB_BENCH=${mark}`)
      terminal.dispose()
    },
  }
}

let opened = 0

function waitFor(
  terminal: xterm.Terminal,
  pattern: RegExp,
  waiting: Set<(at: number) => void>,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const look = (at: number) => {
      if (!pattern.test(textOf(terminal))) return
      clearTimeout(late)
      waiting.delete(look)
      resolve(at)
    }
    const late = setTimeout(() => {
      waiting.delete(look)
      reject(new Error(`Cannot measure: the screen does not show ${pattern}, but:\n${textOf(terminal)}`))
    }, TIMEOUT_MS)
    waiting.add(look)
    look(performance.now())
  })
}

function textOf({ buffer: { active } }: xterm.Terminal): string {
  const lines = Array.from({ length: ROWS }, (_, row) =>
    active.getLine(active.baseY + row)?.translateToString(true),
  )
  return lines.join('\n')
}

/** User and system time that a process has taken so far, milliseconds, to a hundredth of a second. */
export function cpuOf(pid: number): number {
  const behindName = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)!.split(' ')
  return (Number(behindName[11]) + Number(behindName[12])) * 10
}

/** The most memory a process has had, MB. */
export function peakOf(pid: number): number {
  const peak = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))
  return Number(peak?.[1]) / 1e3
}

/** Lets a program settle. */
export async function settled(screen: Screen, quietMs: number): Promise<void> {
  for (;;) {
    const count = screen.writes.length
    await sleep(quietMs)
    if (screen.writes.length === count) return
  }
}
