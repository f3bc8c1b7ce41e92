import type { Readable } from 'node:stream'
import { toCancelledError } from '../base/abortable.ts'
import { CappedOutput } from './capped-output.ts'
import { readUntilExit } from './read-until-exit.ts'
import type { ExitStatus, ProcessCommand, ProcessHost, RunningProcess } from './types.ts'
import { wholeLength } from './utf8-cut.ts'

/** The options of runCommand(). */
export interface RunCommandOptions {
  /** The text for standard input; without it standard input is /dev/null. */
  stdin?: string
  /** The time limit, after which the whole group is ended. */
  timeoutMs?: number
  /** The maximum number of bytes of output to show; by default 32 KiB. */
  capBytes?: number
  /** The folder for a file with the complete output when it exceeds the cap; absolute, created when needed. */
  spillFolder: string
  /** The maximum number of bytes of such a file; by default 64 MiB. */
  maxSpillBytes?: number
  /** Whether to leave running what the program has started and not waited for. */
  keep?: boolean
  /** Creates a filter for a stream, whose results become the output. By default nothing is changed. */
  filter?: () => OutputFilter
}

/** Transforms output as it arrives, in complete characters. The last chunk may be empty. */
export type OutputFilter = (piece: Buffer, isEnd: boolean) => Buffer

/** The result of a command. */
export interface CommandResult {
  /**
   * Standard output and error in order of arrival. A long output lacks its middle and says so; an output that
   * hit the time limit says so, too.
   */
  output: string
  status: ExitStatus
  timedOut: boolean
  /** The number of bytes that `output` omits. */
  droppedBytes: number
  /** The file with the complete output; undefined when `output` is complete, or when there is no file. */
  spillPath: string | undefined
  /**
   * The group, when `keep` is set and the program has left processes running: the caller must end it. Its
   * output is discarded.
   */
  running: RunningProcess | undefined
}

/**
 * Runs a program until it exits, and then ends everything it has left running, unless `keep` is set.
 *
 * Throws like `start` when the program cannot be started; a program that fails is a result. An abort ends the
 * group and then throws `cancelled`. Memory is bounded, regardless of the output.
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

/** Collects the output until the program has exited; the caller finishes it. */
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

/** Reads until the program has exited. An abort or the time limit ends it; returns true for the time limit. */
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
  const timer = timeoutMs === undefined ? undefined : setTimeout(onTimeout, Math.min(timeoutMs, MAX_TIMER_MS))
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

/** Adds a stream's output in complete characters, so that a chunk of another stream never splits one. */
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

/**
 * Whether other processes of the group still run. True when the system temporarily cannot tell, so that they
 * are kept.
 */
async function hasOthers(running: RunningProcess): Promise<boolean> {
  return await running.members().then(
    (members) => members.length > 0,
    () => true,
  )
}

async function endAll(running: RunningProcess): Promise<void> {
  await running.end()
  // Processes that escaped may hold the pipes open forever.
  for (const stream of [running.stdout, running.stderr]) stream.destroy()
}

const CAP_BYTES = 32 * 1024
const MAX_SPILL_BYTES = 64 * 1024 * 1024
/** The longest delay of a Node timer. */
const MAX_TIMER_MS = 2 ** 31 - 1
