import type { Readable, Writable } from 'node:stream'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import type { Transport } from '@modelcontextprotocol/client'
import type { ExitStatus, ProcessHost, RunningProcess } from '../../core/process/types.ts'
import type { ServerLink } from '../connection/link.ts'
import type { StdioTarget } from '../fingerprint.ts'
import { toPrintableLine } from '../tools/remote-tool.ts'
import { describeStderrTail, type LineTail } from './stderr-tail.ts'
import { StdioTransport } from './stdio-transport.ts'

export interface StdioLinkOptions {
  processes: ProcessHost
  target: StdioTarget
  /** The whole environment of the program. */
  env: Readonly<Record<string, string>>
  /** Takes what it writes to standard error, for ever: a full pipe would stop it. */
  stderr: LineTail
  /** Gives a transport in its place whose messages somebody sees. */
  watch?(transport: Transport): Transport
}

/** Starts a program that serves MCP on its standard streams. Fails as ProcessHost.start() does. */
export async function openStdioLink(options: StdioLinkOptions): Promise<ServerLink> {
  const { processes, target, env, stderr, watch: watched } = options
  const { command, args, cwd } = target
  const program = await processes.start({ argv: [command, ...args], cwd, env })
  if (stderr.hasNotes) stderr.note('started again')
  program.stderr.on('data', (chunk: Buffer) => stderr.push(chunk))
  return linkTo(program, stderr, watched)
}

function linkTo(program: RunningProcess, stderr: LineTail, watched: StdioLinkOptions['watch']): ServerLink {
  const broken = Promise.withResolvers<string>()
  const { stdin, stdout } = program
  const transport = new StdioTransport({ stdin, stdout, onBroken: broken.resolve })
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
  // What the program left running goes with it, and the SDK learns that nothing comes any more.
  void ended.then(async () => {
    transport.end()
    if (!closing) await program.end()
  })
  return {
    transport: watched?.(transport) ?? transport,
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

/** A server ends when its input does; one that does not is ended, and what it has started too. */
async function shutDown(transport: StdioTransport, program: RunningProcess): Promise<void> {
  await transport.close()
  await Promise.race([program.exited, sleep(GRACE_MS, undefined, { ref: false })])
  await program.end()
}

/** Resolves when a program has ended, or can answer no more. Its pipes may outlive it, where others hold them. */
async function watch(program: RunningProcess, tail: LineTail, note: (how: string) => void): Promise<string> {
  const { exited, stdin, stdout, stderr } = program
  await Promise.race([exited, whenStreamEnds(stdout), whenBroken(stdin)])
  const status = await Promise.race([exited, sleep(SETTLE_MS, undefined, { ref: false })])
  if (status === undefined) {
    note(CLOSED)
    return CLOSED
  }
  await Promise.race([
    Promise.all([whenStreamEnds(stdout), whenStreamEnds(stderr)]),
    sleep(SETTLE_MS, undefined, { ref: false }),
  ])
  await nextTurn() // where this process was busy, the pipes were not looked at yet
  await nextTurn()
  const words = wordsAt(status, tail)
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

/** Resolves when nothing can be written any more, though nobody here has ended it. */
function whenBroken(stdin: Writable): Promise<void> {
  return new Promise((resolve) => stdin.once('close', () => !stdin.writableEnded && resolve()))
}

function describeEnd({ code, signal }: ExitStatus): string {
  return signal === null ? `it ended with exit code ${code}` : `it was ended by ${signal}`
}

/** Whoever is ended by others has nothing to say about it. */
function wordsAt({ signal }: ExitStatus, stderr: LineTail): string {
  return signal === null || CRASHES.has(signal) ? toPrintableLine(describeStderrTail(stderr.lines())) : ''
}

const CRASHES: ReadonlySet<string> = new Set(['SIGABRT', 'SIGSEGV', 'SIGBUS', 'SIGILL', 'SIGFPE', 'SIGTRAP'])
const CLOSED = 'it closed its standard input or output'
/** What a server may take to end by itself. */
const GRACE_MS = 1_000
/** Between the end of a program and the end of what it said. */
const SETTLE_MS = 50
