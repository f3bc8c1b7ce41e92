import type { Readable, Writable } from 'node:stream'
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import { CrabError } from '../../core/base/errors.ts'
import { isObject } from '../../core/base/json.ts'
import { LineReader } from './line-reader.ts'

/** What a transport over the streams of a process is made of. */
export interface StdioTransportOptions {
  stdin: Writable
  stdout: Readable
  /** Called when the server can no longer be understood. */
  onBroken(why: string): void
}

/**
 * MCP over standard input and output: a JSON-RPC message a line (MCP 2026-07-28, stdio).
 *
 * Lines that are no message are ignored, as servers print all sorts of things. What the process does is its owner's
 * business, who calls end() when it is over.
 */
export class StdioTransport implements Transport {
  onmessage?: Transport['onmessage']
  onclose?: Transport['onclose']
  onerror?: Transport['onerror']
  /** By these two the SDK knows a local program, whose silence is no outage. */
  readonly stderr = null
  readonly pid = null
  readonly #options: StdioTransportOptions
  readonly #reader = new LineReader(MAX_MESSAGE_BYTES)
  #isStarted = false
  #isOver = false
  #hasSpoken = false

  constructor(options: StdioTransportOptions) {
    this.#options = options
  }

  get hasSpoken(): boolean {
    return this.#hasSpoken
  }

  /** Any number of times, once for each client. */
  async start(): Promise<void> {
    if (this.#isStarted) return
    this.#isStarted = true
    this.#options.stdout.on('data', (chunk: Buffer) => this.#read(chunk))
  }

  /**
   * Does not wait for a server that reads slowly: a cancellation could then not be sent. One that has left so much unread
   * that it can no longer be taken for slow is given up.
   */
  async send(message: JSONRPCMessage): Promise<void> {
    const { stdin } = this.#options
    if (this.#isOver || !stdin.writable) throw new CrabError('unavailable', 'Cannot send: the server is gone')
    stdin.write(`${JSON.stringify(message)}\n`)
    if (stdin.writableLength <= MAX_UNREAD_BYTES) return
    this.end()
    this.#options.onBroken(`it has left more than ${MAX_UNREAD_BYTES / 2 ** 20} MiB unread`)
  }

  /** The server sees the end of its input. */
  async close(): Promise<void> {
    this.#options.stdin.end()
    this.end()
  }

  /** Nothing comes any more. */
  end(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.onclose?.()
  }

  #read(chunk: Buffer): void {
    if (this.#isOver) return // and the pipe goes on being emptied
    const lines = this.#reader.push(chunk)
    for (const message of lines?.flatMap(toMessages) ?? []) this.#take(message)
    if (lines) return
    this.end()
    this.#options.onBroken(`it sent a message of more than ${MAX_MESSAGE_BYTES / 2 ** 20} MiB`)
  }

  #take(message: JSONRPCMessage): void {
    this.#hasSpoken = true
    try {
      this.onmessage?.(message)
    } catch (reason) {
      this.onerror?.(reason as Error) // what one server says must not end this process
    }
  }
}

/** Images come as text; the SDK's own limit of 10 MiB is too little for some servers. */
const MAX_MESSAGE_BYTES = 64 * 2 ** 20
/** What a server that stands still may have waiting for it. */
const MAX_UNREAD_BYTES = 64 * 2 ** 20

/** The messages of a line: none, one, or several where an older server sends a batch. */
function toMessages(line: string): JSONRPCMessage[] {
  const value = parse(line.replace(/^\uFEFF/, ''))
  const values: unknown[] = Array.isArray(value) ? value : [value]
  return values.filter(isMessage)
}

function parse(line: string): unknown {
  if (!/^\s*[[{]/.test(line)) return undefined
  try {
    return JSON.parse(line)
  } catch {
    return undefined // a line of a log that begins like JSON
  }
}

/** A request, a notification or an answer; an answer to nothing (`id: null`) helps nobody. */
function isMessage(value: unknown): value is JSONRPCMessage {
  if (!isObject(value)) return false
  const { id, method, result, error } = value
  const hasId = typeof id === 'string' || typeof id === 'number'
  if (typeof method === 'string') return hasId || id === undefined
  return hasId && (isObject(result) || isObject(error))
}
