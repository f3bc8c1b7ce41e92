import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { type Duplex, Readable, Writable } from 'node:stream'
import { CrabError } from '../base/errors.ts'
import { getErrorCode } from '../base/system-error.ts'
import type { ExitStatus } from './types.ts'

/** One end of a pipe from node:child_process, which is a Unix socket. */
export type Pipe = Duplex & { unref(): unknown }

/** A child process that has been started. */
export interface StartedChild {
  pid: number
  stdin: Writable
  stdout: Readable
  stderr: Readable
  /** The pipe on descriptor 3, if one was requested. */
  control: Pipe | undefined
  exited: Promise<ExitStatus>
  /**
   * Releases a child that has exited: it no longer keeps this process alive, and its output can still be read
   * to the end.
   */
  settle(): void
  /** Releases a running child: closes its pipes, so that it no longer keeps this process alive. */
  drop(): void
}

/** Starts a program with node:child_process. Throws `failed`; `name` is the program's name in messages. */
export async function spawnChild(
  name: string,
  [file, ...args]: readonly [string, ...string[]],
  options: SpawnOptions,
): Promise<StartedChild> {
  return toStarted(await trySpawn(name, file, args, options))
}

/** Returns the `failed` error for a program that cannot be started, from the code of a system call. */
export function startError(name: string, code: string, cause?: unknown): CrabError {
  const knownReason = REASONS[code]
  const why = knownReason?.why ?? (cause instanceof Error ? cause.message : code)
  return new CrabError('failed', `Cannot start ${name}: ${why}`, {
    cause,
    ...(knownReason && { hint: knownReason.hint }),
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
  // When a program exits, Node discards output that has no reader yet, unless it finds no pipes here.
  Object.assign(child, { stdio: [] })
  for (const pipe of pipes) pipe.on('error', () => {}) // a failed pipe ends, which its reader sees
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
      unref() // escaped processes may hold the pipes open
      stdin.destroy()
      for (const stream of [stdout, stderr]) if (stream.readableFlowing === null) stream.destroy()
    },
    drop() {
      unref()
      if (stdin.writableLength === 0) stdin.end()
      else stdin.destroy() // a program that does not read must not keep this process alive
      stdout.destroy()
      stderr.destroy()
    },
  }
}

/** A standard input that discards everything. */
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
    hint: 'pass large input on standard input',
  },
  EAGAIN: FULL,
  ENOMEM: FULL,
  EMFILE: FILES,
  ENFILE: FILES,
  ERR_INVALID_ARG_VALUE: {
    why: 'its arguments or its environment contain a null character',
    hint: 'pass binary input on standard input',
  },
}
