import type { JSONRPCMessage, SSEClientTransport, Transport } from '@modelcontextprotocol/client'
import { CrabError } from '../../core/base/errors.ts'
import { toFailedSend } from './failed-send.ts'

export interface SseTransportOptions {
  /** Creates the SDK's transport on the first start. */
  inner(): Promise<SSEClientTransport>
  /** The URL without secrets. */
  address: string
  /** Returns the last failure of its stream, if any. */
  failure(): unknown
}

/**
 * MCP over HTTP with server-sent events (2024-11-05): wraps the SDK's transport, whose event stream is the
 * connection.
 */
export class SseTransport implements Transport {
  onmessage?: Transport['onmessage']
  onclose?: Transport['onclose']
  onerror?: Transport['onerror']
  readonly #options: SseTransportOptions
  #starting: Promise<void> | undefined
  #inner: SSEClientTransport | undefined
  #isOver = false

  constructor(options: SseTransportOptions) {
    this.#options = options
  }

  /** Starts the transport. Idempotent: each client that uses it starts it. */
  async start(): Promise<void> {
    this.#starting ??= this.#start()
    await this.#starting
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (!this.#inner || this.#isOver)
      throw new CrabError('unavailable', 'Cannot send: the connection is closed')
    try {
      await this.#inner.send(message)
    } catch (reason) {
      throw toFailedSend(reason, this.#options.address)
    }
  }

  setProtocolVersion(version: string): void {
    this.#inner?.setProtocolVersion(version)
  }

  async close(): Promise<void> {
    this.end()
    await this.#inner?.close()
  }

  /** Stops receiving. */
  end(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.onclose?.()
  }

  async #start(): Promise<void> {
    const inner = await this.#options.inner()
    this.#inner = inner
    inner.onmessage = (message) => this.#take(message)
    inner.onerror = (error) => this.onerror?.(error)
    try {
      await inner.start()
    } catch (reason) {
      await inner.close()
      throw this.#options.failure() ?? toFailedSend(reason, this.#options.address)
    }
  }

  #take(message: JSONRPCMessage): void {
    if (this.#isOver) return
    try {
      this.onmessage?.(message)
    } catch (reason) {
      this.onerror?.(reason as Error) // one server's message must not end this process
    }
  }
}
