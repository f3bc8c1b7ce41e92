import type { Client, Progress, RequestOptions } from '@modelcontextprotocol/client'
import { toCancelled } from '../core/base/cancelled.ts'
import { CrabError } from '../core/base/errors.ts'
import type { JsonObject } from '../core/base/message.ts'
import { listTools } from './discovery.ts'
import type { Link } from './link.ts'
import { dropUnsendable } from './param-headers.ts'
import { rawResultOf } from './raw-results.ts'
import { printable, type RemoteTool, type ToolList } from './remote-tool.ts'
import { readAbout, type ServerAbout } from './server-about.ts'

/** The two ways MCP is spoken: with a handshake (2024-11-05 to 2025-11-25), and without (2026-07-28). */
export type Era = 'legacy' | 'modern'

/** One call of a tool. */
export interface RemoteCall {
  name: string
  args: JsonObject
  /** Without a word of progress; with it ten minutes in all, or this if it is more. */
  timeoutMs: number
  onProgress: OnProgress
}

/** Takes what a server says of how far it is, in a unit of its own. */
export type OnProgress = (progress: Progress) => void

/**
 * An established connection to one server. Requests run in parallel; what is cancelled is told to the server.
 *
 * A request fails with `unavailable` when the server is gone, `timeout`, `tool` when it refused, or as its signal says.
 */
export class Connection {
  readonly era: Era
  /** The MCP revision that was negotiated. */
  readonly protocolVersion: string
  /** What the server said of itself. */
  readonly about: ServerAbout
  readonly #client: Client
  readonly #link: Link
  readonly #sdk: typeof import('./sdk.ts')
  readonly #stop = new AbortController()
  /** As they were last listed. */
  #tools: ReadonlyMap<string, RemoteTool> = new Map()

  constructor(client: Client, link: Link, sdk: typeof import('./sdk.ts')) {
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
    // In this revision a server tells of changes to those who listen; one that has nothing to tell refuses.
    if (this.era === 'modern') client.listen({ toolsListChanged: true }).catch(() => undefined)
  }

  get pid(): number | undefined {
    return this.#link.pid
  }

  /** Resolves when the server can no longer be reached, with why. Never rejects. */
  get ended(): Promise<string> {
    return this.#link.ended
  }

  /** All pages. A server without tools has none. */
  async listTools(signal: AbortSignal): Promise<ToolList> {
    const list = await this.#request({ idleMs: LIST_TIMEOUT_MS }, signal, (options) =>
      listTools(async (cursor) => {
        const params = cursor === undefined ? {} : { cursor }
        try {
          return rawResultOf(await this.#client.request({ method: 'tools/list', params }, options))
        } catch (reason) {
          if (cursor === undefined && this.#sdk.isUnknownMethod(reason)) return {}
          throw reason
        }
      }),
    )
    const sendable = this.#wantsHeaders ? dropUnsendable(list) : list
    this.#tools = new Map(sendable.tools.map((tool) => [tool.name, tool]))
    return sendable
  }

  /** The server's answer as it gave it. One that misses headers has not begun: what it wants is asked, and sent, once. */
  async callTool(call: RemoteCall, signal: AbortSignal): Promise<unknown> {
    const { timeoutMs, onProgress } = call
    const limits = { idleMs: timeoutMs, totalMs: Math.max(timeoutMs, TOTAL_TIMEOUT_MS), onProgress }
    return await this.#request(limits, signal, async (options) => {
      try {
        return await this.#sendCall(call, options)
      } catch (reason) {
        if (!this.#wantsHeaders || !this.#sdk.isHeaderMismatch(reason)) throw reason
        await this.listTools(options.signal!)
        return await this.#sendCall(call, options)
      }
    })
  }

  /** Asks for a sign of life, which a refusal is too. */
  async ping(signal: AbortSignal): Promise<void> {
    await this.#request({ idleMs: PING_TIMEOUT_MS }, signal, async (options) => {
      const answer = this.era === 'modern' ? this.#client.discover(options) : this.#client.ping(options)
      await answer.catch((reason: unknown) => {
        if (this.#sdk.kindOfFailure(reason) !== 'refused') throw reason
      })
    })
  }

  /** Cancels what runs, says good-bye and ends the server. Any number of times; never rejects. */
  async close(): Promise<void> {
    this.#stop.abort(new CrabError('unavailable', 'the connection is closed'))
    await this.#client.close().catch(() => undefined) // the link is closed in any case
    await this.#link.close()
  }

  /** As close(), for a host that is leaving. */
  release(): void {
    this.#stop.abort(new CrabError('unavailable', 'the connection is closed'))
    this.#client.close().catch(() => undefined) // nobody waits
    this.#link.release()
  }

  /** Whether arguments go along as headers where a tool asks for it (MCP 2026-07-28, Streamable HTTP). */
  get #wantsHeaders(): boolean {
    return this.era === 'modern' && this.pid === undefined
  }

  /** The SDK makes the headers from the schema; nothing else of the definition matters to it. */
  async #sendCall({ name, args }: RemoteCall, options: RequestOptions): Promise<unknown> {
    const params = { name, arguments: args }
    const inputSchema = this.#wantsHeaders && this.#tools.get(name)?.inputSchema
    const answer = inputSchema
      ? await this.#client.callTool(params, {
          ...options,
          toolDefinition: { name, inputSchema: { ...inputSchema, type: 'object' } },
        })
      : await this.#client.request({ method: 'tools/call', params }, options)
    return rawResultOf(answer)
  }

  async #request<T>(
    limits: Limits,
    signal: AbortSignal,
    send: (options: RequestOptions) => Promise<T>,
  ): Promise<T> {
    using clock = startClock(limits)
    const either = AbortSignal.any([signal, this.#stop.signal, clock.signal])
    try {
      return await send({ signal: either, timeout: NO_TIMEOUT, ...clock.progress })
    } catch (reason) {
      if (either.aborted) throw toCancelled(either)
      throw await this.#explain(reason)
    }
  }

  async #explain(reason: unknown): Promise<CrabError> {
    const kind = this.#sdk.kindOfFailure(reason)
    if (kind === 'gone') return new CrabError('unavailable', await this.ended, { cause: reason })
    const words = printable(reason instanceof Error ? reason.message : String(reason))
    return new CrabError(kind === 'refused' ? 'tool' : 'failed', words, { cause: reason })
  }
}

interface Limits {
  /** Until the answer, or the next word of progress. */
  idleMs: number
  totalMs?: number
  onProgress?: OnProgress
}

/** Aborts with `timeout` when a request takes too long. */
function startClock({ idleMs, totalMs = idleMs, onProgress }: Limits): Clock {
  const over = new AbortController()
  const expire = (ms: number) =>
    over.abort(new CrabError('timeout', `it did not answer within ${Math.round(ms / 100) / 10} s`))
  const total = setTimeout(expire, totalMs, totalMs)
  let idle = setTimeout(expire, idleMs, idleMs)
  const onprogress: OnProgress = (report) => {
    clearTimeout(idle)
    idle = setTimeout(expire, idleMs, idleMs)
    onProgress?.(report)
  }
  return {
    signal: over.signal,
    progress: onProgress ? { onprogress } : {},
    [Symbol.dispose]() {
      clearTimeout(total)
      clearTimeout(idle)
    },
  }
}

interface Clock extends Disposable {
  signal: AbortSignal
  progress: Pick<RequestOptions, 'onprogress'>
}

/** What the SDK may take; our own clock is the one that counts. */
const NO_TIMEOUT = 2 ** 31 - 1
const TOTAL_TIMEOUT_MS = 600_000
const LIST_TIMEOUT_MS = 60_000
const PING_TIMEOUT_MS = 10_000
