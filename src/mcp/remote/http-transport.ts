import type {
  JSONRPCMessage,
  StreamableHTTPClientTransport,
  Transport,
  TransportSendOptions,
} from '@modelcontextprotocol/client'
import { abortable, toCancelledError } from '../../core/base/abortable.ts'
import { CrabError } from '../../core/base/errors.ts'
import { isObject } from '../../core/base/json.ts'
import {
  findErrorReply,
  getPlainResponse,
  isLostSession,
  isMalformedAnswer,
  toFailedSend,
  toMalformedAnswer,
} from './failed-send.ts'
import { type CurrentRequest, PendingRequest } from './pending-request.ts'

export interface HttpTransportOptions {
  /** Creates the SDK's transport on the first start. */
  inner(): Promise<StreamableHTTPClientTransport>
  asks: CurrentRequest
  /** The URL without secrets. */
  address: string
  /**
   * Returns the longest time, in milliseconds, that a request waits when the server asks to be retried later.
   */
  patienceMs(): number
  note(line: string): void
  /** Called when the server has become unusable. */
  onGone(error: CrabError): void
}

/**
 * MCP over Streamable HTTP: wraps the SDK's transport and handles what that leaves open. A request that can
 * no longer get a response fails immediately. A session that the server has lost is re-created once, and the
 * refused message is sent again.
 */
export class HttpTransport implements Transport {
  onmessage?: Transport['onmessage']
  onclose?: Transport['onclose']
  onerror?: Transport['onerror']
  /** True because MCP 2026-07-28 cancels a request by closing its stream. */
  readonly hasPerRequestStream = true
  readonly #options: HttpTransportOptions
  readonly #open = new Map<unknown, PendingRequest>()
  #inner: StreamableHTTPClientTransport | undefined
  #isOver = false
  #version: string | undefined
  /** The client's `initialize` request, which is repeated to re-create a session. */
  #initialize: JSONRPCMessage | undefined
  #renewing: Promise<void> | undefined
  #renewals = 0
  #onRenewalAnswer: ((message: JSONRPCMessage) => void) | undefined
  /** The HTTP status with which the server refused the last handshake message. */
  refusedWith: number | undefined

  constructor(options: HttpTransportOptions) {
    this.#options = options
  }

  /** Starts the transport. Idempotent: each client that uses it starts it. */
  async start(): Promise<void> {
    if (this.#inner) return
    const inner = await this.#options.inner()
    inner.onmessage = (message) => this.#take(message)
    inner.onerror = (error) => {
      if (isMalformedAnswer(error)) this.#options.asks.getStore()?.fail(toMalformedAnswer(error))
      this.onerror?.(error)
    }
    this.#inner = inner
    await inner.start()
  }

  /** Sends a message; for a request, resolves when its response has arrived. */
  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    if ('method' in message && message.method === 'initialize') this.#initialize = message
    else await this.#renewing
    const inner = this.#inner
    if (!inner || this.#isOver) throw new CrabError('unavailable', 'Cannot send: the connection is closed')
    this.#followCancel(message)
    const session = inner.sessionId
    try {
      await this.#send(inner, message, options)
    } catch (reason) {
      const answer = getPlainResponse(reason)
      if (answer && session !== undefined && isLostSession(answer) && !isHandshake(message)) {
        await this.#renew(session)
        return await this.#sendAgain(inner, message, options)
      }
      this.#fail(reason, message)
    }
  }

  setProtocolVersion(version: string): void {
    this.#version = version
    this.#inner?.setProtocolVersion(version)
  }

  /** The headers that identify the session; undefined when there is none to delete. */
  get session(): Readonly<Record<string, string>> | undefined {
    const id = this.#inner?.sessionId
    if (id === undefined) return undefined
    return {
      'mcp-session-id': id,
      ...(this.#version !== undefined && { 'mcp-protocol-version': this.#version }),
    }
  }

  async close(): Promise<void> {
    this.end()
    await this.#inner?.close()
  }

  /** Stops receiving and fails the pending requests. */
  end(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.onclose?.()
    for (const pending of this.#open.values())
      pending.fail(new CrabError('unavailable', 'the connection is closed'))
  }

  async #send(
    inner: StreamableHTTPClientTransport,
    message: JSONRPCMessage,
    options: TransportSendOptions | undefined,
  ): Promise<void> {
    const { asks } = this.#options
    if (!('method' in message && 'id' in message)) {
      return await asks.run(undefined, () => inner.send(message))
    }
    const { requestSignal: callerSignal } = options ?? {}
    if (callerSignal?.aborted) throw toCancelledError(callerSignal)
    const pending = new PendingRequest()
    const cancelled = () => pending.fail(toCancelledError(callerSignal!))
    callerSignal?.addEventListener('abort', cancelled, { once: true })
    const onRequestStreamEnd = () => {
      pending.fail(new CrabError('failed', 'its stream ended before the answer arrived'))
      options?.onRequestStreamEnd?.()
    }
    this.#open.set(message.id, pending)
    try {
      const { headers } = options ?? {}
      const own = { requestSignal: pending.signal, onRequestStreamEnd, ...(headers && { headers }) }
      await Promise.race([asks.run(pending, () => inner.send(message, own)), pending.answered])
      if (!pending.isStreamed)
        pending.fail(new CrabError('failed', 'it accepted the request but did not answer'))
      await pending.answered
    } finally {
      callerSignal?.removeEventListener('abort', cancelled)
      this.#open.delete(message.id)
    }
  }

  #take(message: JSONRPCMessage): void {
    if (this.#isOver) return
    if (!('method' in message) && message.id === RENEWAL) this.#onRenewalAnswer?.(message)
    try {
      if ('method' in message || message.id !== RENEWAL) this.onmessage?.(message)
    } catch (reason) {
      this.onerror?.(reason as Error) // one server's message must not end this process
    }
    if (!('method' in message)) this.#open.get(message.id)?.answer()
  }

  /** Fails a cancelled request locally; older revisions leave its stream open. */
  #followCancel(message: JSONRPCMessage): void {
    if (!('method' in message) || message.method !== 'notifications/cancelled') return
    this.#open.get(message.params?.['requestId'])?.fail(new CrabError('cancelled', 'Cancelled'))
  }

  /** Throws, unless the response is a JSON-RPC error that can be passed to the SDK. */
  #fail(reason: unknown, message: JSONRPCMessage): void {
    const answer = getPlainResponse(reason)
    const refusal = answer && findErrorReply(answer, message)
    if (isHandshake(message)) this.refusedWith = answer?.status
    // The SDK chooses the revision by the raw response to the probe.
    if (isDiscover(message) && answer) throw reason
    if (!refusal) throw toFailedSend(reason, this.#options.address)
    this.onmessage?.(refusal)
  }

  async #renew(lost: string): Promise<void> {
    if (!this.#renewing && this.#inner?.sessionId !== lost) return
    this.#renewing ??= this.#reinitialize().finally(() => {
      this.#renewing = undefined
    })
    await this.#renewing
  }

  async #sendAgain(
    inner: StreamableHTTPClientTransport,
    message: JSONRPCMessage,
    options: TransportSendOptions | undefined,
  ): Promise<void> {
    try {
      await this.#send(inner, message, options)
    } catch (reason) {
      const answer = getPlainResponse(reason)
      if (answer && isLostSession(answer)) throw this.#giveUp('it loses its sessions immediately')
      this.#fail(reason, message)
    }
  }

  /**
   * Re-creates the session within a time limit, then reports a changed tool list, because it may have
   * changed.
   */
  async #reinitialize(): Promise<void> {
    const ms = Math.min(this.#options.patienceMs(), RENEWAL_MS)
    const late = new AbortController()
    const expire = () => late.abort(new CrabError('timeout', `it did not answer within ${ms / 1000} s`))
    const timer = setTimeout(expire, ms).unref()
    try {
      await abortable(this.#initializeAgain(late.signal), late.signal)
    } catch (reason) {
      const failure = toFailedSend(reason, this.#options.address)
      throw this.#giveUp(
        `it lost its session and does not open another: ${failure instanceof Error ? failure.message : ''}`,
      )
    } finally {
      clearTimeout(timer)
    }
    this.#renewals++
    this.#options.note(`its session was lost and reopened (${this.#renewals})`)
    this.#take({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' })
  }

  /** Repeats the client's handshake. Throws `failed` when the server now speaks another revision. */
  async #initializeAgain(requestSignal: AbortSignal): Promise<void> {
    const inner = this.#inner!
    const { promise, resolve } = Promise.withResolvers<JSONRPCMessage>()
    this.#onRenewalAnswer = resolve
    await this.#send(inner, { ...this.#initialize, id: RENEWAL } as JSONRPCMessage, { requestSignal })
    const answer = await promise
    const result = 'result' in answer && isObject(answer.result) ? answer.result : {}
    if (result['protocolVersion'] !== this.#version)
      throw new CrabError('failed', 'it now speaks another revision')
    await this.#send(inner, { jsonrpc: '2.0', method: 'notifications/initialized' }, undefined)
  }

  /** Reports the server as gone and returns the error to throw. */
  #giveUp(why: string): CrabError {
    const error = new CrabError('unavailable', why)
    this.#options.onGone(error)
    return error
  }
}

function isHandshake(message: JSONRPCMessage): boolean {
  return 'method' in message && (message.method === 'initialize' || message.method === 'server/discover')
}

function isDiscover(message: JSONRPCMessage): boolean {
  return 'method' in message && message.method === 'server/discover'
}

const RENEWAL = 'crabtalk-renewal'
/** The limit for re-creating a session; the server is already running. */
const RENEWAL_MS = 10_000
