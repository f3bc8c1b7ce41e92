import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import type { JsonObject } from '../../../src/core/base/message.ts'
import { endProcesses } from '../processes.ts'
import { until } from '../until.ts'
import type { StdioEntry } from './mcp-servers.ts'
import type { Message } from './message.ts'

/** A server started by hand, and what it says to the byte. */
export interface RawClient extends AsyncDisposable {
  child: ChildProcessByStdio<Writable, Readable, Readable>
  /** Sends a line. */
  say(message: Omit<Message, 'jsonrpc'>): void
  /** Sends a request and waits for an answer with its id, whatever else comes. */
  request(method: string, params?: JsonObject): Promise<Message>
  /** The handshake of the old line. */
  initialize(): Promise<Message>
  call(name: string, args?: JsonObject): Promise<Message>
  stdout(): Buffer
  stderr(): string
  /** The messages said so far. */
  messages(): Message[]
  /** Waits for a message. */
  hears(what: string, isIt: (message: Message) => boolean): Promise<Message>
  /** When the process has ended: its code or signal, and whether its pipes have closed too. */
  exit: Promise<{ code: number | null; signal: NodeJS.Signals | null }>
  closed: Promise<unknown>
}

/** Starts a server with nothing in its environment but PATH and what its entry says; kills all it left when disposed. */
export function startRaw(entry: StdioEntry, { reads = true } = {}): RawClient {
  const mark = `CRAB_RAW=${crypto.randomUUID()}`
  const env = { PATH: process.env['PATH'], ...entry.env, CRAB_RAW: mark.split('=')[1] }
  const child = spawn(entry.command, entry.args, { env, cwd: entry.cwd, stdio: 'pipe' })
  child.stdin.on('error', () => {}) // a server need not read
  const [out, err]: [Buffer[], Buffer[]] = [[], []]
  child.stdout.on('data', (chunk: Buffer) => out.push(chunk))
  if (reads) child.stderr.on('data', (chunk: Buffer) => err.push(chunk))
  let count = 0
  const messages = () => messagesIn(Buffer.concat(out).toString())
  const say: RawClient['say'] = (message) => {
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  }
  const hears: RawClient['hears'] = async (what, isIt) => {
    await until(`the server says ${what}`, () => messages().some(isIt))
    return messages().find(isIt)!
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
    stdout: () => Buffer.concat(out),
    stderr: () => Buffer.concat(err).toString(),
    exit: once(child, 'exit').then(([code, signal]) => ({ code, signal })),
    closed: once(child, 'close'),
    async [Symbol.asyncDispose]() {
      await endProcesses(mark)
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

/** Whole lines that are messages; what else there is does not count. */
function messagesIn(text: string): Message[] {
  return text
    .split('\n')
    .slice(0, -1)
    .flatMap((line) => {
      try {
        const value: unknown = JSON.parse(line)
        return typeof value === 'object' && value !== null && 'jsonrpc' in value ? [value as Message] : []
      } catch {
        return []
      }
    })
}
