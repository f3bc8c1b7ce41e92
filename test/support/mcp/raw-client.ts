import assert from 'node:assert/strict'
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import type { JsonObject } from '../../../src/core/base/message.ts'
import { endProcesses } from '../processes.ts'
import type { StdioEntry } from './mcp-servers.ts'
import type { Message } from './message.ts'

/** A manually started server, and its output, byte for byte. */
export interface RawClient extends AsyncDisposable {
  child: ChildProcessByStdio<Writable, Readable, Readable>
  /** Sends a line. */
  say(message: Omit<Message, 'jsonrpc'>): void
  /** Sends a request and waits for the answer with its id, skipping other messages. */
  request(method: string, params?: JsonObject): Promise<Message>
  /** Performs the handshake of the older revisions. */
  initialize(): Promise<Message>
  call(name: string, args?: JsonObject): Promise<Message>
  stdout(): Buffer
  stderr(): string
  /** Returns the messages received so far; the list grows. */
  messages(): readonly Message[]
  /** Waits for a message, received already or later; fails when the output closes without it. */
  hears(what: string, isIt: (message: Message) => boolean): Promise<Message>
  /** Resolves when the process has ended and its pipes have closed, with its code or signal. */
  exit: Promise<{ code: number | null; signal: NodeJS.Signals | null }>
  closed: Promise<unknown>
}

/**
 * Starts a server with only PATH and its entry's variables in its environment; disposing kills all of its
 * processes.
 */
export function startRaw(entry: StdioEntry, { reads = true } = {}): RawClient {
  const mark = `CRAB_RAW=${crypto.randomUUID()}`
  const env = { PATH: process.env['PATH'], ...entry.env, CRAB_RAW: mark.split('=')[1] }
  const child = spawn(entry.command, entry.args, { env, cwd: entry.cwd, stdio: 'pipe' })
  child.stdin.on('error', () => {}) // a server may not read its input
  const err: Buffer[] = []
  if (reads) child.stderr.on('data', (chunk: Buffer) => err.push(chunk))
  const { hears, messages, bytes } = listenTo(child.stdout)
  let count = 0
  const say: RawClient['say'] = (message) => {
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  }
  const request: RawClient['request'] = (method, params) => {
    const id = ++count
    say({ id, method, ...(params && { params }) })
    return hears(`its answer to ${method}`, (message) => message.id === id && message.method === undefined)
  }
  return {
    child,
    say,
    request,
    hears,
    messages,
    async initialize() {
      const answer = await request('initialize', HANDSHAKE)
      say({ method: 'notifications/initialized' })
      return answer
    },
    call: (name, args = {}) => request('tools/call', { name, arguments: args }),
    stdout: bytes,
    stderr: () => Buffer.concat(err).toString(),
    exit: once(child, 'exit').then(([code, signal]) => ({ code, signal })),
    closed: once(child, 'close'),
    async [Symbol.asyncDispose]() {
      await endProcesses(mark, 0)
      child.stdin.destroy()
      child.stdout.destroy()
      child.stderr.destroy()
    },
  }
}

const HANDSHAKE = {
  protocolVersion: '2025-06-18',
  capabilities: {},
  clientInfo: { name: 'raw', version: '1' },
}

/** Collects a server's messages. Waiting for one fails when the output closes first. */
function listenTo(stdout: Readable): Pick<RawClient, 'hears' | 'messages'> & { bytes(): Buffer } {
  const chunks: Buffer[] = []
  const messages: Message[] = []
  const decoder = new StringDecoder()
  const heard = new EventEmitter()
  heard.setMaxListeners(0)
  let rest: string[] = []
  stdout.on('data', (chunk: Buffer) => {
    chunks.push(chunk)
    const [first, ...lines] = decoder.write(chunk).split('\n')
    rest.push(first!)
    if (lines.length === 0) return
    const whole = [rest.join(''), ...lines]
    rest = [whole.pop()!]
    messages.push(...whole.flatMap(toMessages))
    heard.emit('more')
  })
  stdout.once('close', () => heard.emit('more'))
  return {
    bytes: () => Buffer.concat(chunks),
    messages: () => messages,
    async hears(what, isIt) {
      for (;;) {
        const found = messages.find(isIt)
        if (found !== undefined) return found
        assert.ok(!stdout.closed, `the server closed its output before it said ${what}`)
        await once(heard, 'more')
      }
    },
  }
}

/** Parses a line as messages; none for noise. */
function toMessages(line: string): Message[] {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null && 'jsonrpc' in value ? [value as Message] : []
  } catch {
    return []
  }
}
