import type { Log } from '../../core/base/log.ts'

/** A refused connection or operation. */
export interface RefusedRequest {
  /** The address of the client, such as `127.0.0.1`. */
  address: string
  reason: string
  /** The name of its token, once it has shown one. */
  token?: string
  /** The name in the proto file; absent when the connection was refused. */
  operation?: string
}

/** The number of lines that one address may cause per minute; further refusals are only counted. */
const MAX_LINES = 10
const WINDOW_MS = 60_000
/** The number of addresses that are counted separately at a time; all others share one count. */
const MAX_ADDRESSES = 256
const MAX_REASON = 300

/**
 * Logs what clients are refused: a few lines per minute and address, then one line with a count, so that a
 * flood does not fill the disk.
 */
export class RefusalLog implements Disposable {
  readonly #log: Log
  readonly #windowMs: number
  readonly #windows = new Map<string, { count: number; timer: NodeJS.Timeout }>()

  constructor(log: Log, windowMs = WINDOW_MS) {
    this.#log = log
    this.#windowMs = windowMs
  }

  add({ address, reason, token, operation }: RefusedRequest): void {
    const key = this.#windows.has(address) || this.#windows.size < MAX_ADDRESSES ? address : 'other addresses'
    const window = this.#windows.get(key) ?? this.#open(key)
    window.count++
    if (window.count > MAX_LINES) return
    this.#log('warn', operation === undefined ? 'refused a client' : 'refused an operation', {
      client: address,
      ...(token !== undefined && { token }),
      ...(operation !== undefined && { operation }),
      reason: reason.slice(0, MAX_REASON),
    })
  }

  /** Logs the counts of the current minute. */
  [Symbol.dispose](): void {
    for (const key of [...this.#windows.keys()]) this.#close(key)
  }

  #open(key: string): { count: number; timer: NodeJS.Timeout } {
    const timer = setTimeout(() => this.#close(key), this.#windowMs).unref()
    const window = { count: 0, timer }
    this.#windows.set(key, window)
    return window
  }

  #close(key: string): void {
    const window = this.#windows.get(key)
    this.#windows.delete(key)
    clearTimeout(window?.timer)
    const more = (window?.count ?? 0) - MAX_LINES
    if (more > 0) this.#log('warn', `refused ${more} more`, { client: key })
  }
}
