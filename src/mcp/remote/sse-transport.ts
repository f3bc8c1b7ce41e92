import type { JSONRPCMessage, SSEClientTransport, Transport } from '@modelcontextprotocol/client'
import { CrabError } from '../../core/base/errors.ts'
import { toFailedSend } from './failed-send.ts'

export interface SseTransportOptions {
  /** Makes the SDK's own, when it is needed. */
  inner(): Promise<SSEClientTransport>
  /** As people may see it. */
  address: string
  /** What last went wrong with its stream, if anything did. */
  failure(): unknown
}

/** MCP over HTTP with server-sent events (2024-11-05): the SDK's transport, whose stream is the connection. */
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

  /** Any number of times, once for each client. */
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

  /** Nothing comes any more. */
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
      this.onerror?.(reason as Error) // what one server says must not end this process
    }
  }
}
