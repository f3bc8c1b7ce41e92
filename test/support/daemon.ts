import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { HelloInfo } from '../../src/core/protocol/crabtalk.generated.ts'
import type { Dispatch } from '../../src/core/protocol/dispatch.ts'
import { findDaemon } from '../../src/daemon/find-daemon.ts'
import { programFile } from './programs.ts'
import type { TemporaryHome } from './temporary-home.ts'

/** The command of the program from source, or from its bundle in a run of all tests. */
export const FROM_SOURCE = [
  process.execPath,
  '--disable-warning=ExperimentalWarning',
  '--', // otherwise Node reads a later `--env-file` itself
  programFile(resolve(import.meta.dirname, '../../bin/crabtalk.ts')),
] as const

/** The environment for FROM_SOURCE: code that one process has compiled starts the next one in half the time. */
export const COMPILED = {
  NODE_COMPILE_CACHE: resolve(import.meta.dirname, '../../node_modules/.cache/compiled'),
} as const

export interface DaemonStart {
  /** The arguments after `daemon run`. */
  args?: readonly string[]
  env?: Readonly<Record<string, string>>
  /** Another program that is a daemon as well. */
  program?: readonly [string, ...string[]]
}

/** The end of a daemon. */
export interface DaemonEnd {
  /** The exit code as in a shell's `$?`. */
  code: number
  stderr: string
}

/** `crabtalk daemon run` in its own process. */
export interface TestDaemon extends AsyncDisposable {
  readonly pid: number
  readonly info: HelloInfo
  /** The dispatch of a client on this machine. */
  readonly dispatch: Dispatch
  readonly ended: Promise<DaemonEnd>
  kill(signal: NodeJS.Signals): void
}

/**
 * Starts a daemon for a home, from source, and waits until it answers. Disposing ends it, with SIGKILL if
 * that takes too long.
 */
export async function startTestDaemon(home: TemporaryHome, start: DaemonStart = {}): Promise<TestDaemon> {
  const { child, ended } = spawnDaemon(home, start)
  const place = { paths: home.paths, env: toEnvironment(home, start), uid: process.getuid!() }
  const ends: DaemonEnd[] = []
  void ended.then((end) => ends.push(end))
  for (;;) {
    const found = await findDaemon(place, NEVER)
    const [end] = ends
    if (end) throw new Error(`The daemon ended with ${end.code}: ${end.stderr}`)
    if (found?.info.pid === child.pid) {
      return { pid: found!.info.pid, ...found!, ended, ...ending(child, ended) }
    }
    await new Promise((resume) => setTimeout(resume, 5))
  }
}

/** Runs `daemon run` to its end, for a daemon that cannot start. */
export async function failedDaemon(home: TemporaryHome, start: DaemonStart = {}): Promise<DaemonEnd> {
  return await spawnDaemon(home, start).ended
}

/** Starts a daemon without waiting. */
export function spawnDaemon(home: TemporaryHome, start: DaemonStart = {}) {
  const [file, ...first] = start.program ?? FROM_SOURCE
  const child = spawn(file, [...first, 'daemon', 'run', ...(start.args ?? [])], {
    cwd: tmpdir(),
    env: toEnvironment(home, start),
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const pieces: string[] = []
  child.stderr.on('data', (piece) => pieces.push(String(piece)))
  const ended = once(child, 'close').then(([code, signal]) => ({
    code: code ?? 128 + constants.signals[signal as NodeJS.Signals],
    stderr: pieces.join(''),
  }))
  return { child, ended }
}

function ending(child: ReturnType<typeof spawn>, ended: Promise<DaemonEnd>) {
  const kill = (signal: NodeJS.Signals) => void child.kill(signal)
  return {
    kill,
    async [Symbol.asyncDispose]() {
      kill('SIGCONT')
      kill('SIGTERM')
      const late = setTimeout(() => kill('SIGKILL'), 8000)
      await ended
      clearTimeout(late)
    },
  }
}

function toEnvironment({ paths }: TemporaryHome, { env }: DaemonStart): Record<string, string> {
  const own = { HOME: join(paths.home, '..'), CRABTALK_HOME: paths.home }
  return { PATH: process.env['PATH']!, ...own, ...COMPILED, ...env }
}

const NEVER = new AbortController().signal
