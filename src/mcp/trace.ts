import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import { REDACTED } from '../core/config/secrets.ts'
import { wholeLength } from '../core/process/utf8-cut.ts'
import type { ServerTarget } from './fingerprint.ts'
import { isSecretName, secretsOf, showWords } from './secret-words.ts'
import type { FrameTap, Owner } from './types.ts'

/** Whose messages they are. */
export interface Traced {
  fingerprint: string
  target: ServerTarget
  /** At this moment. */
  owners(): readonly Owner[]
  /** Milliseconds since 1970. */
  now(): number
}

/** A transport whose messages the tap is told. While nobody listens, nothing but that is looked at. */
export function tracedTransport(inner: Transport, tap: FrameTap, traced: Traced): Transport {
  const trace = new Trace(tap, traced)
  const outer: Transport = {
    async start() {
      inner.onmessage = (message, extra) => {
        trace.follow(message, false)
        outer.onmessage?.(message, extra)
      }
      inner.onclose = () => outer.onclose?.()
      inner.onerror = (error) => outer.onerror?.(error)
      await inner.start()
    },
    send(message, options) {
      trace.follow(message, true)
      return inner.send(message, options)
    },
    close: () => inner.close(),
  }
  // The SDK looks for these to tell a local program from an address.
  return 'stderr' in inner ? Object.assign(outer, { stderr: null, pid: null }) : outer
}

class Trace {
  readonly #tap: FrameTap
  readonly #traced: Traced
  /** When what waits for an answer was asked, by who asks and id. */
  readonly #asked = new Map<string, number>()
  #secrets: readonly string[] | undefined

  constructor(tap: FrameTap, traced: Traced) {
    this.#tap = tap
    this.#traced = traced
  }

  follow(message: JSONRPCMessage, outgoing: boolean): void {
    if (this.#tap.isHeard) this.#tell(message, outgoing)
    else this.#asked.clear()
  }

  #tell(message: JSONRPCMessage, outgoing: boolean): void {
    const { fingerprint, owners, now } = this.#traced
    const at = now()
    const method = 'method' in message ? message.method : ''
    const id = 'id' in message && message.id !== undefined ? String(message.id) : ''
    const durationMs = method === '' ? this.#take(`${!outgoing} ${id}`, at) : undefined
    if (method !== '' && id !== '') this.#note(`${outgoing} ${id}`, at)
    const shown = cut(this.#show(message))
    this.#tap.tell({ at, fingerprint, owners: owners(), outgoing, method, id, durationMs, ...shown })
  }

  #note(key: string, at: number): void {
    const [oldest] = this.#asked.keys()
    if (oldest !== undefined && this.#asked.size >= MOST_ASKED) this.#asked.delete(oldest) // never answered
    this.#asked.set(key, at)
  }

  #take(key: string, at: number): number | undefined {
    const since = this.#asked.get(key)
    this.#asked.delete(key)
    return since === undefined ? undefined : Math.max(0, at - since)
  }

  /** As JSON, without what was given to the server in secret, and what looks like a secret. */
  #show(message: JSONRPCMessage): string {
    this.#secrets ??= secretsOf(this.#traced.target)
    const secrets = this.#secrets
    const hide = (text: string) => secrets.reduce((shown, secret) => shown.replaceAll(secret, REDACTED), text)
    const text = JSON.stringify(message, (key, value: unknown) => {
      if (typeof value !== 'string') return value
      return isSecretName(key) ? REDACTED : showWords([hide(value)])[0]
    })
    return hide(text) // names of keys, too
  }
}

function cut(text: string): { payload: string; isCut: boolean } {
  const bytes = Buffer.from(text)
  if (bytes.length <= MAX_PAYLOAD_BYTES) return { payload: text, isCut: false }
  const head = bytes.subarray(0, MAX_PAYLOAD_BYTES)
  return { payload: head.subarray(0, wholeLength(head)).toString(), isCut: true }
}

const MAX_PAYLOAD_BYTES = 64 * 1024
const MOST_ASKED = 1_000
