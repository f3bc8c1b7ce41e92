import type {
  JSONRPCMessage,
  StreamableHTTPClientTransport,
  Transport,
  TransportSendOptions,
} from '@modelcontextprotocol/client'
import { abortable, toCancelledError } from '../../core/base/abortable.ts'
import { CrabError } from '../../core/base/errors.ts'
import { isObject } from '../../core/base/json.ts'
import { findErrorReply, getPlainResponse, isLostSession, toFailedSend } from './failed-send.ts'
import { type CurrentRequest, PendingRequest } from './pending-request.ts'

export interface HttpTransportOptions {
  /** Makes the SDK's own, when it is needed. */
  inner(): Promise<StreamableHTTPClientTransport>
  asks: CurrentRequest
  /** As people may see it. */
  address: string
  /** How long a request may wait where the server asks for it. */
  patienceMs(): number
  note(line: string): void
  /** Called when the server cannot be used any more. */
  onGone(error: CrabError): void
}

/**
 * MCP over Streamable HTTP: the SDK's transport, and what it leaves open. A request that can have no answer any more
 * fails at once. A session that the server has forgotten is made anew, once, and what it refused for that is sent again.
 */
export class HttpTransport implements Transport {
  onmessage?: Transport['onmessage']
  onclose?: Transport['onclose']
  onerror?: Transport['onerror']
  /** In MCP 2026-07-28 a request is cancelled by ending its stream. */
  readonly hasPerRequestStream = true
  readonly #options: HttpTransportOptions
  readonly #open = new Map<unknown, PendingRequest>()
  #inner: StreamableHTTPClientTransport | undefined
  #isOver = false
  #version: string | undefined
  /** How the client has introduced itself, where that makes a session. */
  #hello: JSONRPCMessage | undefined
  #renewing: Promise<void> | undefined
  #renewals = 0
  #answered: ((message: JSONRPCMessage) => void) | undefined
  /** The status of the answer when it refused the last question or greeting. */
  refusedWith: number | undefined

  constructor(options: HttpTransportOptions) {
    this.#options = options
  }

  /** Any number of times, once for each client. */
  async start(): Promise<void> {
    if (this.#inner) return
    const inner = await this.#options.inner()
    inner.onmessage = (message) => this.#take(message)
    inner.onerror = (error) => this.onerror?.(error)
    this.#inner = inner
    await inner.start()
  }

  /** Resolves with the answer where there is one to come. */
  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    if ('method' in message && message.method === 'initialize') this.#hello = message
    else await this.#renewing
    const inner = this.#inner
    if (!inner || this.#isOver) throw new CrabError('unavailable', 'Cannot send: the connection is closed')
    this.#followCancel(message)
    const session = inner.sessionId
    try {
      await this.#send(inner, message, options)
    } catch (reason) {
      const answer = getPlainResponse(reason)
      if (answer && session !== undefined && isLostSession(answer) && !isHello(message)) {
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

  /** What the server knows this connection by; undefined when there is nothing to forget. */
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

  /** Nothing comes any more. */
  end(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.onclose?.()
    for (const ask of this.#open.values()) ask.fail(new CrabError('unavailable', 'the connection is closed'))
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
    const { requestSignal: unwanted } = options ?? {}
    if (unwanted?.aborted) throw toCancelledError(unwanted)
    const ask = new PendingRequest()
    const cancelled = () => ask.fail(toCancelledError(unwanted!))
    unwanted?.addEventListener('abort', cancelled, { once: true })
    const onRequestStreamEnd = () => {
      ask.fail(new CrabError('failed', 'its stream ended before its answer came'))
      options?.onRequestStreamEnd?.()
    }
    this.#open.set(message.id, ask)
    try {
      const { headers } = options ?? {}
      const own = { requestSignal: ask.signal, onRequestStreamEnd, ...(headers && { headers }) }
      await Promise.race([asks.run(ask, () => inner.send(message, own)), ask.answered])
      if (!ask.isStreamed) ask.fail(new CrabError('failed', 'it took the request and gave no answer'))
      await ask.answered
    } finally {
      unwanted?.removeEventListener('abort', cancelled)
      this.#open.delete(message.id)
    }
  }

  #take(message: JSONRPCMessage): void {
    if (this.#isOver) return
    if (!('method' in message) && message.id === RENEWAL) this.#answered?.(message)
    try {
      if ('method' in message || message.id !== RENEWAL) this.onmessage?.(message)
    } catch (reason) {
      this.onerror?.(reason as Error) // what one server says must not end this process
    }
    if (!('method' in message)) this.#open.get(message.id)?.answer()
  }

  /** What was cancelled is not waited for; older revisions leave its stream open. */
  #followCancel(message: JSONRPCMessage): void {
    if (!('method' in message) || message.method !== 'notifications/cancelled') return
    this.#open.get(message.params?.['requestId'])?.fail(new CrabError('cancelled', 'Cancelled'))
  }

  /** Throws, unless the answer refuses the request in words that the SDK understands. */
  #fail(reason: unknown, message: JSONRPCMessage): void {
    const answer = getPlainResponse(reason)
    const refusal = answer && findErrorReply(answer, message)
    if (isHello(message)) this.refusedWith = answer?.status
    // The SDK itself goes by what it is answered to the question for the newest revision.
    if (isQuestion(message) && answer) throw reason
    if (!refusal) throw toFailedSend(reason, this.#options.address)
    this.onmessage?.(refusal)
  }

  async #renew(lost: string): Promise<void> {
    if (!this.#renewing && this.#inner?.sessionId !== lost) return
    this.#renewing ??= this.#greetAgain().finally(() => {
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
      if (answer && isLostSession(answer)) throw this.#give('it forgets its sessions at once')
      this.#fail(reason, message)
    }
  }

  /** Introduces the client anew, which has a time of its own; what the server has may be another list now. */
  async #greetAgain(): Promise<void> {
    const ms = Math.min(this.#options.patienceMs(), RENEWAL_MS)
    const late = new AbortController()
    const expire = () => late.abort(new CrabError('timeout', `it did not answer within ${ms / 1000} s`))
    const timer = setTimeout(expire, ms).unref()
    try {
      await abortable(this.#introduce(late.signal), late.signal)
    } catch (reason) {
      const failure = toFailedSend(reason, this.#options.address)
      throw this.#give(
        `it has lost its session, and gives no other: ${failure instanceof Error ? failure.message : ''}`,
      )
    } finally {
      clearTimeout(timer)
    }
    this.#renewals++
    this.#options.note(`its session was lost and made anew (${this.#renewals})`)
    this.#take({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' })
  }

  /** In the same words as at first. */
  async #introduce(requestSignal: AbortSignal): Promise<void> {
    const inner = this.#inner!
    const { promise, resolve } = Promise.withResolvers<JSONRPCMessage>()
    this.#answered = resolve
    await this.#send(inner, { ...this.#hello, id: RENEWAL } as JSONRPCMessage, { requestSignal })
    const answer = await promise
    const result = 'result' in answer && isObject(answer.result) ? answer.result : {}
    if (result['protocolVersion'] !== this.#version)
      throw new CrabError('failed', 'it speaks another revision now')
    await this.#send(inner, { jsonrpc: '2.0', method: 'notifications/initialized' }, undefined)
  }

  /** Gives the server up; gives what to throw. */
  #give(why: string): CrabError {
    const error = new CrabError('unavailable', why)
    this.#options.onGone(error)
    return error
  }
}

function isHello(message: JSONRPCMessage): boolean {
  return 'method' in message && (message.method === 'initialize' || message.method === 'server/discover')
}

function isQuestion(message: JSONRPCMessage): boolean {
  return 'method' in message && message.method === 'server/discover'
}

const RENEWAL = 'crabtalk-renewal'
/** It runs already: about what it may take to say hello. */
const RENEWAL_MS = 10_000
