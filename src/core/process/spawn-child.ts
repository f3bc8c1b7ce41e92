import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { type Duplex, Readable, Writable } from 'node:stream'
import { CrabError } from '../base/errors.ts'
import { getErrorCode } from '../base/system-error.ts'
import type { ExitStatus } from './types.ts'

/** One end of a pipe as node:child_process makes it: a Unix socket. */
export type Pipe = Duplex & { unref(): unknown }

/** A child process that was started. */
export interface StartedChild {
  pid: number
  stdin: Writable
  stdout: Readable
  stderr: Readable
  /** The pipe on descriptor 3, when one was asked for. */
  control: Pipe | undefined
  exited: Promise<ExitStatus>
  /** For one that has ended: nothing of it keeps this process alive, and who reads it can read on to the end. */
  settle(): void
  /** For one that runs: its pipes are closed, and nothing of it keeps this process alive. */
  drop(): void
}

/** Starts a program as node:child_process does. Fails with `failed`; `name` is what people call the program. */
export async function spawnChild(
  name: string,
  [file, ...args]: readonly [string, ...string[]],
  options: SpawnOptions,
): Promise<StartedChild> {
  return toStarted(await trySpawn(name, file, args, options))
}

/** Why a program cannot be started, as `failed`, from the code of a system call. */
export function startError(name: string, code: string, cause?: unknown): CrabError {
  const known = REASONS[code]
  const why = known?.why ?? (cause instanceof Error ? cause.message : code)
  return new CrabError('failed', `Cannot start ${name}: ${why}`, {
    cause,
    ...(known && { hint: known.hint }),
  })
}

async function trySpawn(name: string, file: string, args: readonly string[], options: SpawnOptions) {
  try {
    const child = spawn(file, args, options)
    if (child.pid !== undefined) return child
    const [reason] = await once(child, 'error')
    throw reason
  } catch (reason) {
    throw startError(name, getErrorCode(reason), reason)
  }
}

function toStarted(child: ChildProcess): StartedChild {
  const pipes = child.stdio.filter((pipe) => pipe !== null && pipe !== undefined) as Pipe[]
  const control = (child.stdio[3] ?? undefined) as Pipe | undefined
  const stdin = child.stdin ?? newNullStream()
  const stdout = child.stdout ?? Readable.from([])
  const stderr = child.stderr ?? Readable.from([])
  // When the program has ended, Node throws away what nobody has begun to read, unless it finds no pipes here.
  Object.assign(child, { stdio: [] })
  for (const pipe of pipes) pipe.on('error', () => {}) // a pipe that fails has ended: its reader sees that
  const unref = () => {
    child.unref()
    for (const pipe of pipes) pipe.unref()
  }
  return {
    pid: child.pid!,
    stdin,
    stdout,
    stderr,
    control,
    exited: new Promise((resolve) => child.once('exit', (code, signal) => resolve({ code, signal }))),
    settle() {
      unref() // what escaped may hold the pipes open
      stdin.destroy()
      for (const stream of [stdout, stderr]) if (stream.readableFlowing === null) stream.destroy()
    },
    drop() {
      unref()
      if (stdin.writableLength === 0) stdin.end()
      else stdin.destroy() // one that does not read must not hold this process
      stdout.destroy()
      stderr.destroy()
    },
  }
}

/** Standard input of a program that has none: it takes everything. */
function newNullStream(): Writable {
  return new Writable({ write: (_piece, _encoding, done) => done() })
}

const FULL = {
  why: 'the system has no room for another process',
  hint: 'end some programs, or raise `ulimit -u`',
}
const FILES = { why: 'too many files are open', hint: 'raise `ulimit -n`' }
const REASONS: Record<string, { why: string; hint: string }> = {
  E2BIG: {
    why: 'its arguments and environment are too large',
    hint: 'give it large input on standard input',
  },
  EAGAIN: FULL,
  ENOMEM: FULL,
  EMFILE: FILES,
  ENFILE: FILES,
  ERR_INVALID_ARG_VALUE: {
    why: 'its arguments or its environment hold a null character',
    hint: 'give it binary input on standard input',
  },
}
