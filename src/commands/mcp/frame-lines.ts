import { parseObject } from '../../core/base/json.ts'
import { sanitizeLine } from '../../core/base/sanitize.ts'
import { listSpeakers } from '../../core/base/sender-class.ts'
import type { McpTraceEvent } from '../../core/protocol/crabtalk.generated.ts'

/** Remembers the methods of requests, so that a response can be shown with its method. */
export class RequestTracker {
  readonly #methods = new Map<string, string>()

  /**
   * Returns the method of a message, for a response that of its request; empty when the request was not seen.
   */
  resolveMethod({ fingerprint, outgoing, method, id }: McpTraceEvent): string {
    if (method === '') return this.#take(`${fingerprint} ${!outgoing} ${id}`)
    const [oldest] = this.#methods.keys()
    if (oldest !== undefined && this.#methods.size >= MAX_PENDING) this.#methods.delete(oldest) // never answered
    if (id !== '') this.#methods.set(`${fingerprint} ${outgoing} ${id}`, method)
    return method
  }

  #take(key: string): string {
    const method = this.#methods.get(key) ?? ''
    this.#methods.delete(key)
    return method
  }
}

/**
 * Formats a message on one line: time, direction, server, method, id, duration, turn, and the message itself.
 */
export function toFrameLine(frame: McpTraceEvent, requestMethod: string): string {
  const { ts, outgoing, id, durationMs, owners, payload } = frame
  const names = [...new Set(owners.map(({ name }) => name))].join(',')
  const words = [
    formatClockMs(ts),
    outgoing ? '→' : '←',
    names || frame.fingerprint.slice(0, 8),
    describeFrame(frame, requestMethod),
    id === '' ? '' : `#${id}`,
    durationMs === undefined ? '' : `${durationMs} ms`,
    formatCaller(frame),
    payload,
  ]
  const clean = words.map((word) => sanitizeLine(word).trim())
  return clean.filter((word) => word !== '').join('  ')
}

/** Converts a message to its `--json` form; the payload of a truncated one stays text. */
export function toJsonFrame(frame: McpTraceEvent, requestMethod: string) {
  const { ts, fingerprint, owners, outgoing, method, id, durationMs, agent, sender, runId } = frame
  return {
    at: ts,
    fingerprint,
    owners,
    direction: outgoing ? 'out' : 'in',
    kind: classifyFrame(frame),
    method: method || requestMethod || null,
    id: id || null,
    duration_ms: durationMs ?? null,
    agent: agent || null,
    sender: sender || null,
    run: runId || null,
    truncated: frame.truncated,
    payload: (frame.truncated ? undefined : parseObject(frame.payload)) ?? frame.payload,
  }
}

type FrameKind = 'request' | 'notification' | 'result' | 'error'

function classifyFrame({ method, id, payload, truncated }: McpTraceEvent): FrameKind {
  if (method !== '') return id === '' ? 'notification' : 'request'
  const isError = truncated
    ? /^[^{]*\{[^{]*"error":/.test(payload)
    : parseObject(payload)?.['error'] !== undefined
  return isError ? 'error' : 'result'
}

function describeFrame(frame: McpTraceEvent, requestMethod: string): string {
  if (frame.method !== '') return frame.method
  const kind = classifyFrame(frame)
  return requestMethod === '' ? kind : `${requestMethod} ${kind}`
}

/** Formats the turn that a message belongs to. */
function formatCaller({ agent, sender, runId }: McpTraceEvent): string {
  if (agent === '') return ''
  return [sender === '' ? agent : listSpeakers({ agent, sender }).join('/'), runId].filter(Boolean).join(' ')
}

/** Formats the local time of day with milliseconds. */
function formatClockMs(ts: string): string {
  const date = new Date(ts)
  if (Number.isNaN(date.getTime())) return ts
  return `${date.toTimeString().slice(0, 8)}.${String(date.getMilliseconds()).padStart(3, '0')}`
}

const MAX_PENDING = 1_000
