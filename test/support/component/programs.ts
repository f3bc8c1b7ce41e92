import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import type { HomePaths } from '../../../src/core/config/paths.ts'
import { until } from '../until.ts'

/** A component as a process. Disposing kills it. */
export interface ComponentProcess extends AsyncDisposable {
  readonly child: ChildProcess
  /** Returns standard error so far. */
  said(): string
  /** Resolves with the exit code, as in a shell. */
  readonly ended: Promise<number>
  /** Waits until its port file exists; returns the port. */
  port(): Promise<number>
}

/** Starts a component's program, for Node, in a home. */
export function startProgram(
  script: string,
  { paths, name = 'clock', node = process.execPath, args = [] }: ProgramOptions,
): ComponentProcess {
  const env = { PATH: process.env['PATH'], HOME: paths.home, CRABTALK_HOME: paths.home }
  const child = spawn(node, [script, ...args], { env, stdio: ['ignore', 'inherit', 'pipe'] })
  let output = ''
  child.stderr!.on('data', (piece: Buffer) => {
    output += piece.toString()
  })
  const ended = once(child, 'close').then(([code, signal]) => code ?? (signal === 'SIGKILL' ? 137 : 128))
  const file = join(paths.run, `${name}.port`)
  return {
    child,
    said: () => output,
    ended,
    async port() {
      const isOver = () => child.exitCode !== null || child.signalCode !== null
      await until('it serves', async () => isOver() || (await pidAt(portIn(file))) === child.pid)
      return portIn(file)
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await ended
    },
  }
}

export interface ProgramOptions {
  paths: Pick<HomePaths, 'home' | 'run'>
  name?: string
  /** The Node executable; by default that of the tests. */
  node?: string
  args?: readonly string[]
}

/** Returns the Node of the tests and, if the PATH has another one, that Node, by version. */
export function installedNodes(): ReadonlyMap<string, string> {
  const places = (process.env['PATH'] ?? '').split(delimiter).map((folder) => join(folder, 'node'))
  const nodes = [process.execPath, ...places.filter((path) => existsSync(path))]
  return new Map(nodes.map((path) => [execFileSync(path, ['--version']).toString().trim(), path]))
}

/** Returns the pid of the component that answers at a port; undefined when none does. */
export async function pidAt(port: number): Promise<number | undefined> {
  const answer = await fetch(`http://127.0.0.1:${port}/health`).catch(() => undefined)
  return answer && ((await answer.json()) as { pid: number }).pid
}

/** Returns the port in a port file; 0 while the file is missing, also during its replacement. */
function portIn(file: string): number {
  try {
    return Number(readFileSync(file, 'utf8'))
  } catch {
    return 0
  }
}
