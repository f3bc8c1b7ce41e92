import type { Readable, Writable } from 'node:stream'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import type { Transport } from '@modelcontextprotocol/client'
import type { ExitStatus, ProcessHost, RunningProcess } from '../../core/process/types.ts'
import type { ServerLink } from '../connection/link.ts'
import type { StdioTarget } from '../fingerprint.ts'
import { toPrintableLine } from '../tools/server-text.ts'
import { describeStderrTail, type LineTail } from './stderr-tail.ts'
import { StdioTransport } from './stdio-transport.ts'

export interface StdioLinkOptions {
  processes: ProcessHost
  target: StdioTarget
  /** The complete environment of the program. */
  env: Readonly<Record<string, string>>
  /**
   * Receives standard error for the program's lifetime, because a full pipe would block it, and plain text on
   * standard output.
   */
  stderr: LineTail
  /** Returns a transport that reports its messages to the frame tap. */
  watch?(transport: Transport): Transport
}

/** Starts a program that serves MCP on its standard streams. Throws as ProcessHost.start() does. */
export async function openStdioLink(options: StdioLinkOptions): Promise<ServerLink> {
  const { processes, target, env, stderr, watch: wrap } = options
  const { command, args, cwd } = target
  const program = await processes.start({ argv: [command, ...args], cwd, env })
  if (stderr.hasNotes) stderr.note('started again')
  program.stderr.on('data', (chunk: Buffer) => stderr.push(chunk))
  return linkTo(program, stderr, wrap)
}

function linkTo(program: RunningProcess, stderr: LineTail, wrap: StdioLinkOptions['watch']): ServerLink {
  const broken = Promise.withResolvers<string>()
  const { stdin, stdout } = program
  const onText = (lines: readonly string[]) => stderr.push(Buffer.from(`${lines.join('\n')}\n`))
  const transport = new StdioTransport({ stdin, stdout, onBroken: broken.resolve, onText })
  let closing: Promise<void> | undefined
  let isNoted = false
  const note = (how: string) => {
    if (!closing && !isNoted) stderr.note(how)
    isNoted = true
  }
  const breach = broken.promise.then((why) => {
    note(why)
    return why
  })
  const ended = Promise.race([breach, watch(program, stderr, note)])
  // Ends the processes that the program left behind, and closes the SDK's side.
  void ended.then(async () => {
    transport.end()
    if (!closing) await program.end()
  })
  return {
    transport: wrap?.(transport) ?? transport,
    pid: program.pid,
    get hasSpoken() {
      return transport.hasSpoken
    },
    ended,
    close() {
      closing ??= shutDown(transport, program)
      return closing
    },
    release() {
      void transport.close()
      program.release()
    },
  }
}

/**
 * Closes the input, at which a server should end by itself, and after a grace period ends it with its whole
 * process group.
 */
async function shutDown(transport: StdioTransport, program: RunningProcess): Promise<void> {
  await transport.close()
  await Promise.race([program.exited, sleep(GRACE_MS, undefined, { ref: false })])
  await program.end()
}

/**
 * Resolves when a program has ended or closed its streams. Its pipes may outlive it when other processes hold
 * them.
 */
async function watch(program: RunningProcess, tail: LineTail, note: (how: string) => void): Promise<string> {
  const { exited, stdin, stdout, stderr } = program
  await Promise.race([exited, whenStreamEnds(stdout), whenInputBroken(stdin)])
  const status = await Promise.race([exited, sleep(SETTLE_MS, undefined, { ref: false })])
  if (status === undefined) {
    note(CLOSED)
    return CLOSED
  }
  await Promise.race([
    Promise.all([whenStreamEnds(stdout), whenStreamEnds(stderr)]),
    sleep(SETTLE_MS, undefined, { ref: false }),
  ])
  await nextTurn() // when this process was busy, the pipes may not have been read yet
  await nextTurn()
  const words = lastWords(status, tail)
  const how = describeEnd(status)
  note(how)
  return words === '' ? how : `${how}: ${words}`
}

function whenStreamEnds(stream: Readable): Promise<void> {
  return new Promise((resolve) => {
    if (stream.readableEnded || stream.destroyed) resolve()
    else stream.once('close', resolve)
  })
}

/** Resolves when the program has closed its input; never when this process ended it. */
function whenInputBroken(stdin: Writable): Promise<void> {
  return new Promise((resolve) => stdin.once('close', () => !stdin.writableEnded && resolve()))
}

function describeEnd({ code, signal }: ExitStatus): string {
  return signal === null ? `it exited with code ${code}` : `it was killed by ${signal}`
}

/** Returns the program's own explanation of its end; empty when it was killed from outside. */
function lastWords({ signal }: ExitStatus, stderr: LineTail): string {
  return signal === null || CRASHES.has(signal) ? toPrintableLine(describeStderrTail(stderr.lines())) : ''
}

const CRASHES: ReadonlySet<string> = new Set(['SIGABRT', 'SIGSEGV', 'SIGBUS', 'SIGILL', 'SIGFPE', 'SIGTRAP'])
const CLOSED = 'it closed its standard input or output'
/** The time a server has to end by itself. */
const GRACE_MS = 1_000
/** The time between the exit of a program and the end of its output. */
const SETTLE_MS = 50
