import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { spawn } from '@lydell/node-pty'
import xterm from '@xterm/headless'
import { endProcesses } from '../test/support/processes.ts'

/** A program to run on a terminal of 100 by 30. */
export interface ScreenProgram {
  command: string
  args: readonly string[]
  env: Readonly<Record<string, string>>
  cwd: string
}

/**
 * A program running on a terminal, with the times of its writes. Disposing ends it and the processes it left
 * behind.
 */
export interface Screen extends AsyncDisposable {
  readonly pid: number
  /** The time of its start. */
  readonly startedAt: number
  /** The writes in ascending order; bytes that arrived together share a time. */
  readonly writes: readonly { at: number; bytes: string }[]
  type(keys: string): void
  /** Resolves with the time of the write that made the screen match. Fails after a timeout. */
  shows(pattern: RegExp): Promise<number>
  /** Resolves with the time of its end. */
  ended: Promise<number>
}

const COLUMNS = 100
const ROWS = 30
const TIMEOUT_MS = 60_000

/** Starts a program on a terminal whose screen can be read while it is drawn. */
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
  terminal.onData((reply) => pty.write(reply)) // programs query the terminal's type
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
      if (!pattern.test(readText(terminal))) return
      clearTimeout(late)
      waiting.delete(look)
      resolve(at)
    }
    const late = setTimeout(() => {
      waiting.delete(look)
      reject(new Error(`Cannot measure: the screen does not show ${pattern}, but:\n${readText(terminal)}`))
    }, TIMEOUT_MS)
    waiting.add(look)
    look(performance.now())
  })
}

function readText({ buffer: { active } }: xterm.Terminal): string {
  const lines = Array.from({ length: ROWS }, (_, row) =>
    active.getLine(active.baseY + row)?.translateToString(true),
  )
  return lines.join('\n')
}

/** Returns the user and system time of a process so far, in milliseconds, with a resolution of 10 ms. */
export function readProcessCpu(pid: number): number {
  const behindName = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)!.split(' ')
  return (Number(behindName[11]) + Number(behindName[12])) * 10
}

/** Returns the peak resident memory of a process in MB. */
export function readPeakMb(pid: number): number {
  const peak = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))
  return Number(peak?.[1]) / 1e3
}

/** Waits until a program has written nothing for `quietMs`. */
export async function settled(screen: Screen, quietMs: number): Promise<void> {
  for (;;) {
    const count = screen.writes.length
    await sleep(quietMs)
    if (screen.writes.length === count) return
  }
}
