import type { Readable, Writable } from 'node:stream'
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import { CrabError } from '../../core/base/errors.ts'
import { isObject } from '../../core/base/json.ts'
import { LineReader } from './line-reader.ts'

/** The options of `StdioTransport`. */
export interface StdioTransportOptions {
  stdin: Writable
  stdout: Readable
  /** Called with the reason when the stream has become unusable. */
  onBroken(why: string): void
  /** Called with the lines of a chunk that are plain text, such as an explanation before the program ends. */
  onText(lines: readonly string[]): void
}

/**
 * MCP over standard input and output: one JSON-RPC message a line (MCP 2026-07-28, stdio).
 *
 * Lines that are not messages are not errors, because servers print all sorts of things. The transport does not
 * watch the process: its owner calls end() when it is over.
 */
export class StdioTransport implements Transport {
  onmessage?: Transport['onmessage']
  onclose?: Transport['onclose']
  onerror?: Transport['onerror']
  /**
   * The SDK recognizes a local program, for which silence is not an outage, by the presence of these two
   * properties.
   */
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

  /** Starts the transport. Idempotent: each client that uses it starts it. */
  async start(): Promise<void> {
    if (this.#isStarted) return
    this.#isStarted = true
    this.#options.stdout.on('data', (chunk: Buffer) => this.#read(chunk))
  }

  /**
   * Writes without waiting for a slow server, since a cancellation must still get through. A server that
   * leaves more than 64 MiB unread is given up.
   */
  async send(message: JSONRPCMessage): Promise<void> {
    const { stdin } = this.#options
    if (this.#isOver || !stdin.writable) throw new CrabError('unavailable', 'Cannot send: the server is gone')
    stdin.write(`${JSON.stringify(message)}\n`)
    if (stdin.writableLength <= MAX_UNREAD_BYTES) return
    this.end()
    this.#options.onBroken(`it has left more than ${MAX_UNREAD_BYTES / 2 ** 20} MiB unread`)
  }

  /** Closes the server's input. */
  async close(): Promise<void> {
    this.#options.stdin.end()
    this.end()
  }

  /** Stops receiving. */
  end(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.onclose?.()
  }

  #read(chunk: Buffer): void {
    if (this.#isOver) return // the pipe is still drained
    const lines = this.#reader.push(chunk)
    const texts = lines?.filter((line) => line.trim() !== '' && !LOOKS_LIKE_JSON.test(line)) ?? []
    if (texts.length > 0) this.#options.onText(texts)
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
      this.onerror?.(reason as Error) // one server's message must not end this process
    }
  }
}

/** Images are sent as text; the SDK's own limit of 10 MiB is too small for some servers. */
const MAX_MESSAGE_BYTES = 64 * 2 ** 20
/** The unread input at which a server counts as stuck. */
const MAX_UNREAD_BYTES = 64 * 2 ** 20

/** Whether a line starts like a message, possibly after a byte order mark. */
const LOOKS_LIKE_JSON = /^\uFEFF?\s*[[{]/

/** Parses the messages of a line: none, one, or several when an older server sends a batch. */
function toMessages(line: string): JSONRPCMessage[] {
  const value = parse(line.replace(/^\uFEFF/, ''))
  const values: unknown[] = Array.isArray(value) ? value : [value]
  return values.flatMap(toMessage)
}

function parse(line: string): unknown {
  if (!LOOKS_LIKE_JSON.test(line)) return undefined
  try {
    return JSON.parse(line)
  } catch {
    return undefined // a log line that starts like JSON
  }
}

/**
 * Returns a request, a notification or a response; a response without an id (`id: null`) is useless. A
 * malformed response becomes a refusal that quotes it, because the request would wait for its time limit.
 */
function toMessage(value: unknown): JSONRPCMessage[] {
  if (!isObject(value)) return []
  const { id, method, result, error } = value
  const hasId = typeof id === 'string' || typeof id === 'number'
  if (typeof method === 'string') return hasId || id === undefined ? [value as JSONRPCMessage] : []
  if (!hasId || !('result' in value || 'error' in value)) return []
  const isSound = isObject(error) ? isSoundError(error) : !('error' in value) && isObject(result)
  return [isSound ? (value as JSONRPCMessage) : toRefusal(id, value)]
}

function isSoundError({ code, message }: Record<string, unknown>): boolean {
  return Number.isSafeInteger(code) && typeof message === 'string'
}

function toRefusal(id: string | number, { result, error }: Record<string, unknown>): JSONRPCMessage {
  const { code, message } = isObject(error) ? error : {}
  const answer = JSON.stringify(error === undefined ? { result } : { error })
  const words = typeof message === 'string' ? `${message} (${JSON.stringify(code)})` : `it answered ${answer}`
  return { jsonrpc: '2.0', id, error: { code: INTERNAL_ERROR, message: words.slice(0, MAX_WORDS) } }
}

/** JSON-RPC 2.0, section 5.1. */
const INTERNAL_ERROR = -32_603
const MAX_WORDS = 500
