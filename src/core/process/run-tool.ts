import { spawn } from 'node:child_process'
import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { toCancelledError } from '../base/abortable.ts'
import { CrabError } from '../base/errors.ts'
import { getErrorCode } from '../base/system-error.ts'
import { startError } from './spawn-child.ts'
import type { ExitStatus } from './types.ts'

/** The options of runTool(). */
export interface ToolOptions {
  /** The complete environment; the program is looked up on its PATH. */
  env: Readonly<Record<string, string | undefined>>
  /** The text for standard input; without it standard input is /dev/null. */
  stdin?: string
  /** The time limit, after which the program is killed; by default 30 s. */
  timeoutMs?: number
  /** The maximum number of bytes to keep of each stream; the rest is discarded. By default 1 MiB. */
  maxBytes?: number
}

/** The output and exit status of a program. */
export interface ProgramResult extends ExitStatus {
  stdout: string
  stderr: string
}

/**
 * Runs a short-lived system program, without a shell and without its own group: for tools that leave nothing
 * running. Throws `missing` when there is no such program, `timeout` and `cancelled` after killing it, or
 * `failed` when it cannot be started. The caller evaluates the exit status.
 */
export async function runTool(
  argv: readonly [string, ...string[]],
  { env, stdin, timeoutMs = 30_000, maxBytes = 1024 * 1024 }: ToolOptions,
  signal: AbortSignal,
): Promise<ProgramResult> {
  if (signal.aborted) throw toCancelledError(signal)
  const [name, ...args] = argv
  const time = AbortSignal.timeout(timeoutMs)
  const child = spawn(name, args, {
    env,
    windowsHide: true,
    killSignal: 'SIGKILL',
    signal: AbortSignal.any([signal, time]),
    stdio: [stdin === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  })
  child.stdin?.on('error', () => undefined) // the program need not read its input
  child.stdin?.end(stdin)
  const [stdout, stderr] = [gather(child.stdout!, maxBytes), gather(child.stderr!, maxBytes)]
  const status = await new Promise<ExitStatus>((resolve, reject) => {
    child.once('error', (reason) => reject(toToolError(argv, reason, { signal, time })))
    child.once('exit', (code, exitSignal) => resolve({ code, signal: exitSignal }))
  })
  await Promise.race([Promise.all([stdout.ended, stderr.ended]), sleep(LAST_MS, undefined, { ref: false })])
  child.stdout!.destroy() // processes that it left running may hold them
  child.stderr!.destroy()
  return { ...status, stdout: stdout.text(), stderr: stderr.text() }
}

function gather(stream: Readable, maxBytes: number): { ended: Promise<unknown>; text(): string } {
  const pieces: Buffer[] = []
  let bytes = 0
  stream.on('data', (piece: Buffer) => {
    if (bytes < maxBytes) pieces.push(piece.subarray(0, maxBytes - bytes))
    bytes += piece.length
  })
  const ended = new Promise((resolve) => stream.once('close', resolve))
  return { ended, text: () => Buffer.concat(pieces).toString() }
}

function toToolError(
  [name]: readonly [string, ...string[]],
  reason: Error,
  { signal, time }: { signal: AbortSignal; time: AbortSignal },
): CrabError {
  if (signal.aborted) return toCancelledError(signal)
  if (time.aborted) return new CrabError('timeout', `Cannot wait for ${name}: it takes too long`)
  const code = getErrorCode(reason)
  if (code !== 'ENOENT') return startError(name, code, reason)
  return new CrabError('missing', `Cannot run ${name}: the program does not exist`, { cause: reason })
}

/** The time limit for its last output after it has exited. */
const LAST_MS = 500
