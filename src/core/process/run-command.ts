import type { Readable } from 'node:stream'
import { toCancelledError } from '../base/abortable.ts'
import { CappedOutput } from './capped-output.ts'
import { readUntilExit } from './read-until-exit.ts'
import type { ExitStatus, ProcessCommand, ProcessHost, RunningProcess } from './types.ts'
import { wholeLength } from './utf8-cut.ts'

export interface RunCommandOptions {
  /** Text on standard input, which is /dev/null without one. */
  stdin?: string
  /** The whole group is ended then. */
  timeoutMs?: number
  /** Bytes of output that are shown at most; by default 32 KiB. */
  capBytes?: number
  /** Where a file with the whole is written when it is more than that; absolute, made when needed. */
  spillFolder: string
  /** Bytes of such a file at most; by default 64 MiB. */
  maxSpillBytes?: number
  /** Leaves running what the program has started and not waited for. */
  keep?: boolean
  /** Makes a filter for a stream: the output is what it gives. By default nothing is changed. */
  filter?: () => OutputFilter
}

/** Changes output as it comes, in whole characters; the last piece may be empty. */
export type OutputFilter = (piece: Buffer, isEnd: boolean) => Buffer

/** What became of a command. */
export interface CommandResult {
  /** Standard output and error as they came; a long one lacks its middle and says so, as does one cut short by time. */
  output: string
  status: ExitStatus
  timedOut: boolean
  /** Bytes that `output` does not show. */
  droppedBytes: number
  /** The file with the whole output; undefined when `output` has it all, and when there is none. */
  spillPath: string | undefined
  /** With `keep`, when the program has left others running: the caller's to end. Their output is thrown away. */
  running: RunningProcess | undefined
}

/**
 * Runs a program until it ends by itself, and then ends what it has left running, unless that is to be kept.
 *
 * A program that cannot be started fails as `start` does; a program that fails is a result. An abort ends the group, then
 * fails with `cancelled`. Memory is bounded, whatever is printed.
 */
export async function runCommand(
  host: ProcessHost,
  command: ProcessCommand,
  options: RunCommandOptions,
  signal: AbortSignal,
): Promise<CommandResult> {
  if (signal.aborted) throw toCancelledError(signal)
  const stdin = options.stdin === undefined ? 'none' : 'pipe'
  const running = await host.start({ ...command, stdin, stderr: 'stdout' })
  try {
    running.stdin.end(options.stdin)
    const { output, timedOut } = await collectOutput(running, options, signal)
    const isLeft = options.keep === true && !timedOut && !signal.aborted && (await hasOthers(running))
    if (!isLeft) await endAll(running)
    const { text, droppedBytes, spillPath } = await output.finish()
    if (signal.aborted) throw toCancelledError(signal)
    return {
      output: timedOut ? withTimeLimit(text, options.timeoutMs) : text,
      status: await running.exited,
      timedOut,
      droppedBytes,
      spillPath,
      running: isLeft ? running : undefined,
    }
  } catch (reason) {
    await endAll(running)
    throw reason
  }
}

/** What a program gives until it has ended; the caller finishes it. */
async function collectOutput(
  running: RunningProcess,
  options: RunCommandOptions,
  signal: AbortSignal,
): Promise<{ output: CappedOutput; timedOut: boolean }> {
  const { timeoutMs, filter, spillFolder } = options
  const output = new CappedOutput({
    capBytes: options.capBytes ?? CAP_BYTES,
    spillFolder,
    maxSpillBytes: options.maxSpillBytes ?? MAX_SPILL_BYTES,
  })
  try {
    return { output, timedOut: await readWithin({ running, output, timeoutMs, filter }, signal) }
  } catch (reason) {
    await output.finish()
    throw reason
  }
}

function withTimeLimit(text: string, timeoutMs: number | undefined): string {
  const newline = text === '' || text.endsWith('\n') ? '' : '\n'
  return `${text}${newline}[ended here: its ${(timeoutMs ?? 0) / 1000} s were up]\n`
}

interface OutputRead {
  running: RunningProcess
  output: CappedOutput
  timeoutMs: number | undefined
  filter: (() => OutputFilter) | undefined
}

/** Reads until the program has ended, which an abort and the time limit see to; true when it was the time limit. */
async function readWithin(
  { running, output, timeoutMs, filter }: OutputRead,
  signal: AbortSignal,
): Promise<boolean> {
  let timedOut = false
  const end = () => void running.end()
  const onTimeout = () => {
    timedOut = true
    end()
  }
  const timer =
    timeoutMs === undefined ? undefined : setTimeout(onTimeout, Math.min(timeoutMs, LONGEST_TIMER_MS))
  signal.addEventListener('abort', end, { once: true })
  if (signal.aborted) end()
  try {
    const { stdout, stderr, exited } = running
    await Promise.all(
      [stdout, stderr].map((stream) => readCharacters(stream, { exited, output, filter: filter?.() })),
    )
    await exited
    return timedOut
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', end)
  }
}

/** Adds what a stream gives in whole characters, so that another stream's piece never falls between parts of one. */
async function readCharacters(
  stream: Readable,
  {
    exited,
    output,
    filter = unchanged,
  }: { exited: Promise<unknown>; output: CappedOutput; filter: OutputFilter | undefined },
): Promise<void> {
  let rest: Buffer = Buffer.alloc(0)
  await readUntilExit(stream, exited, (piece) => {
    const bytes = rest.length === 0 ? piece : Buffer.concat([rest, piece])
    const length = wholeLength(bytes)
    rest = bytes.subarray(length)
    return output.add(filter(bytes.subarray(0, length), false))
  })
  await output.add(filter(rest, true))
}

function unchanged(piece: Buffer): Buffer {
  return piece
}

/** A system that cannot say at the moment who runs lets them run. */
async function hasOthers(running: RunningProcess): Promise<boolean> {
  return await running.members().then(
    (members) => members.length > 0,
    () => true,
  )
}

async function endAll(running: RunningProcess): Promise<void> {
  await running.end()
  for (const stream of [running.stdout, running.stderr]) stream.destroy() // what escaped may hold them for ever
}

const CAP_BYTES = 32 * 1024
const MAX_SPILL_BYTES = 64 * 1024 * 1024
/** What a timer of Node can hold. */
const LONGEST_TIMER_MS = 2 ** 31 - 1
