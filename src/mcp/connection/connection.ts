import type { Client, ClientRequest, RequestOptions } from '@modelcontextprotocol/client'
import { abortable, toCancelledError } from '../../core/base/abortable.ts'
import { CrabError } from '../../core/base/errors.ts'
import type { JsonObject } from '../../core/base/message.ts'
import { CallsInFlight, type InFlightCall } from '../elicitation/calls-in-flight.ts'
import { resolveInputs, type SendRequest } from '../elicitation/input-required.ts'
import type { ElicitationHandler } from '../elicitation/types.ts'
import type { RemoteTool, ToolList } from '../tools/remote-tool.ts'
import { readAbout, type ServerAbout } from '../tools/server-about.ts'
import { toPrintableLine } from '../tools/server-text.ts'
import { type ServerLink, whenEnded } from './link.ts'
import { listTools } from './pages.ts'
import { dropUnsendable } from './param-headers.ts'
import { getRawResult } from './raw-results.ts'
import { type Clock, type Limits, type OnProgress, startClock } from './request-clock.ts'

/** The protocol era: with a handshake (MCP 2024-11-05 to 2025-11-25) or without (2026-07-28). */
export type Era = 'legacy' | 'modern'

/** One call of a tool. */
export interface RemoteCall {
  name: string
  args: JsonObject
  /**
   * The time without any progress, milliseconds; with progress the total is ten minutes, or this if it is
   * longer.
   */
  timeoutMs: number
  onProgress: OnProgress
  /** Answers questions of the server during the call; without it they are declined. */
  elicit?: ElicitationHandler | undefined
  /** Keys of the request's `_meta`. */
  meta?: JsonObject | undefined
}

/** A request that a server may answer with questions of its own. */
export interface RemoteRequest extends Pick<RemoteCall, 'timeoutMs' | 'elicit'> {
  method: 'tools/call' | 'resources/read' | 'prompts/get'
  params: JsonObject
  onProgress?: OnProgress
}

type Sent = Pick<RemoteRequest, 'method' | 'params'>

/** The lists that servers return in pages. */
export type ListMethod = 'tools/list' | 'resources/list' | 'resources/templates/list' | 'prompts/list'

/**
 * An established connection to one server. Requests run in parallel; the server is notified of a cancelled
 * request.
 *
 * A request throws `unavailable` when the server is gone, `timeout`, `tool` when the server refused it, or as
 * its signal does.
 */
export class Connection {
  readonly era: Era
  /** The MCP revision that was negotiated. */
  readonly protocolVersion: string
  /** The server's description of itself. */
  readonly about: ServerAbout
  readonly #client: Client
  readonly #link: ServerLink
  readonly #sdk: typeof import('./sdk.ts')
  readonly #stop = new AbortController()
  readonly #calls = new CallsInFlight()
  /** The tools by name, from the last listing. */
  #tools: ReadonlyMap<string, RemoteTool> = new Map()

  constructor(client: Client, link: ServerLink, sdk: typeof import('./sdk.ts')) {
    this.#client = client
    this.#link = link
    this.#sdk = sdk
    this.era = client.getProtocolEra() ?? 'legacy'
    this.protocolVersion = client.getNegotiatedProtocolVersion() ?? ''
    this.about = readAbout({
      info: client.getServerVersion(),
      capabilities: client.getServerCapabilities(),
      instructions: client.getInstructions(),
    })
    client.setRequestHandler('elicitation/create', async ({ params }, { mcpReq: { signal } }) => ({
      ...(await this.#calls.answer({ ...params }, signal)),
    }))
  }

  get pid(): number | undefined {
    return this.#link.pid
  }

  /** The secrets that a helper supplied for this server. They must not be shown. */
  get secrets(): readonly string[] {
    return this.#link.secrets ?? []
  }

  /** Resolves with the reason when the server can no longer be reached. Never rejects. */
  get ended(): Promise<string> {
    return this.#link.ended
  }

  /** Lists the tools of all pages. A server without tools has an empty list. */
  async listTools(signal: AbortSignal): Promise<ToolList> {
    const list = await this.readPages('tools/list', listTools, signal)
    const sendable = this.#wantsHeaders ? dropUnsendable(list) : list
    this.#tools = new Map(sendable.tools.map((tool) => [tool.name, tool]))
    return sendable
  }

  /** Reads a list page by page; a server that does not know the method has an empty first page. */
  async readPages<T>(
    method: ListMethod,
    read: (page: (cursor: string | undefined) => Promise<unknown>) => Promise<T>,
    signal: AbortSignal,
  ): Promise<T> {
    return await this.#request({ idleMs: LIST_TIMEOUT_MS }, signal, (options) =>
      read(async (cursor) => {
        const params = cursor === undefined ? {} : { cursor }
        try {
          return getRawResult(await this.#client.request({ method, params }, options))
        } catch (reason) {
          if (cursor === undefined && this.#sdk.isUnknownMethod(reason)) return {}
          throw reason
        }
      }),
    )
  }

  /** Calls a tool and returns the server's result unvalidated. */
  async callTool({ name, args, meta, ...rest }: RemoteCall, signal: AbortSignal): Promise<unknown> {
    const params = { name, arguments: args, ...(meta && { _meta: meta }) }
    return await this.ask({ method: 'tools/call', params, ...rest }, signal)
  }

  /** Sends any request that a server may answer with questions; otherwise like callTool(). */
  async ask(
    { method, params, timeoutMs, onProgress, elicit }: RemoteRequest,
    signal: AbortSignal,
  ): Promise<unknown> {
    const totalMs = Math.max(timeoutMs, TOTAL_TIMEOUT_MS)
    const limits = { idleMs: timeoutMs, totalMs: onProgress ? totalMs : timeoutMs, onProgress }
    return await this.#request(limits, signal, async (options, clock) => {
      using call = this.#calls.begin({ elicit, pause: clock.pause })
      const send: SendRequest = (more) => this.#send({ method, params: { ...params, ...more } }, options)
      try {
        const answer = await this.#settle(send, call, options.signal ?? signal)
        call.isLeft = false
        return answer
      } catch (reason) {
        call.isLeft = this.#sdk.classifyFailure(reason) !== 'refused' // a refusal is an answer too
        throw reason
      }
    })
  }

  /** Resolves when the server answers, also with a refusal. */
  async ping(signal: AbortSignal): Promise<void> {
    await this.#request({ idleMs: PING_TIMEOUT_MS }, signal, async (options) => {
      const answer = this.era === 'modern' ? this.#client.discover(options) : this.#client.ping(options)
      await answer.catch((reason: unknown) => {
        if (this.#sdk.classifyFailure(reason) !== 'refused') throw reason
      })
    })
  }

  /** Cancels running requests, closes the session and ends the server. Idempotent; never rejects. */
  async close(): Promise<void> {
    this.#stop.abort(new CrabError('unavailable', 'the connection is closed'))
    await this.#client.close().catch(() => undefined) // the link is closed in any case
    await this.#link.close()
  }

  /** Like close(), for a process that is exiting. */
  release(): void {
    this.#stop.abort(new CrabError('unavailable', 'the connection is closed'))
    this.#client.close().catch(() => undefined) // the process does not wait for it
    this.#link.release()
  }

  /**
   * Whether arguments are also sent as headers where a tool's schema asks for it (MCP 2026-07-28, Streamable
   * HTTP).
   */
  get #wantsHeaders(): boolean {
    return this.era === 'modern' && this.pid === undefined
  }

  /**
   * Retries a call once, with a fresh tool list, when the server refused its headers: such a call has not
   * started.
   */
  async #send(request: Sent, options: RequestOptions): Promise<unknown> {
    if (request.method !== 'tools/call' || !this.#wantsHeaders) return await this.#sendPlain(request, options)
    try {
      return await this.#sendCall(request, options)
    } catch (reason) {
      if (!this.#sdk.isHeaderMismatch(reason)) throw reason
      await this.listTools(options.signal!)
      return await this.#sendCall(request, options)
    }
  }

  /**
   * Sends a call with the headers that the SDK derives from the tool's input schema, the only part of the
   * definition it uses.
   */
  async #sendCall(request: Sent, options: RequestOptions): Promise<unknown> {
    const name = String(request.params['name'])
    const inputSchema = this.#tools.get(name)?.inputSchema
    if (!inputSchema) return await this.#sendPlain(request, options)
    const answer = await this.#client.callTool(
      { ...request.params, name },
      { ...options, toolDefinition: { name, inputSchema: { ...inputSchema, type: 'object' } } },
    )
    return getRawResult(answer)
  }

  async #sendPlain({ method, params }: Sent, options: RequestOptions): Promise<unknown> {
    const request = { method, params } as ClientRequest & { method: Sent['method'] }
    return getRawResult(await this.#client.request(request, options))
  }

  /**
   * Resolves the questions of a call. In older revisions they are separate requests, except for URLs that
   * must be opened first.
   */
  async #settle(send: SendRequest, call: InFlightCall, signal: AbortSignal): Promise<unknown> {
    if (this.era === 'modern') return await resolveInputs(send, call, signal)
    try {
      return await send({})
    } catch (reason) {
      const elicitations = this.#sdk.listElicitationUrls(reason)
      for (const params of elicitations) {
        const { action } = await call.answer({ ...params, mode: 'url' }, signal)
        if (action !== 'accept') throw reason
      }
      if (elicitations.length === 0) throw reason
      return await send({})
    }
  }

  async #request<T>(
    limits: Limits,
    signal: AbortSignal,
    send: (options: RequestOptions, clock: Clock) => Promise<T>,
  ): Promise<T> {
    using clock = startClock(limits)
    const either = AbortSignal.any([signal, this.#stop.signal, clock.signal])
    try {
      return await send({ signal: withPlainReason(either), timeout: NO_TIMEOUT, ...clock.progress }, clock)
    } catch (reason) {
      if (either.aborted) throw toCancelledError(either)
      throw await this.#explain(reason, either)
    }
  }

  async #explain(reason: unknown, signal: AbortSignal): Promise<CrabError> {
    const kind = this.#sdk.classifyFailure(reason)
    if (kind === 'gone') {
      const { message, hint = GONE_HINT } = await abortable(whenEnded(this.#link), signal)
      return new CrabError('unavailable', message, { cause: reason, hint })
    }
    if (reason instanceof CrabError) return reason
    const words = toPrintableLine(reason instanceof Error ? reason.message : String(reason))
    return new CrabError(kind === 'refused' ? 'tool' : 'failed', words, { cause: reason })
  }
}

/**
 * Returns a signal that aborts with the given one, for the SDK: that sends the reason to the server, with the
 * name of its class.
 */
function withPlainReason(signal: AbortSignal): AbortSignal {
  const plain = new AbortController()
  const follow = () => plain.abort(toPlainError(toCancelledError(signal)))
  if (signal.aborted) follow()
  signal.addEventListener('abort', follow, { once: true })
  return plain.signal
}

/** Returns an error that is written as its message only. */
function toPlainError({ kind, message }: CrabError): CrabError {
  return Object.assign(new CrabError(kind, message), { name: '' })
}

/** The largest timer value: the SDK's own timeout never fires, because startClock() limits the request. */
const NO_TIMEOUT = 2 ** 31 - 1
const TOTAL_TIMEOUT_MS = 600_000
const GONE_HINT = 'the next call restarts it; calls in progress are not repeated'
const LIST_TIMEOUT_MS = 60_000
const PING_TIMEOUT_MS = 10_000
