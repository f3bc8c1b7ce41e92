import { toCancelledError } from '../../base/abortable.ts'
import { CrabError } from '../../base/errors.ts'
import type { Attachment } from '../../base/message.ts'
import type { AgentEvent } from '../events.ts'

/** A user's message, as followers of its conversation see it. */
export interface JournalMessage {
  /** Its line in the session; 0 when it is not stored. */
  line: number
  content: string
  attachments: readonly Attachment[]
  /** Milliseconds since 1970. */
  at: number
}

/** An entry in the journal of a conversation. */
export type JournalEntry =
  | { type: 'event'; seq: number; runId: string; event: AgentEvent }
  | { type: 'message'; runId: string; message: JournalMessage }
  /** The session, its title, or the run on it has changed; or, if it says so, only the number of followers. */
  | { type: 'changed'; isFollowers?: boolean }

/**
 * The recent history of one conversation, for its followers: a bounded log, read by position.
 *
 * Positions count every entry ever appended, from 0.
 */
export class Journal {
  readonly #maxBytes: number
  #entries: { entry: JournalEntry; bytes: number }[] = []
  /** The position of the oldest entry that is still in memory. */
  #first = 0
  #bytes = 0
  #seq = 0
  #grown: PromiseWithResolvers<void> | undefined
  /** The current positions of all readers. */
  readonly #readers = new Set<{ position: number }>()

  /** Continues the event numbers after `from`. */
  constructor({ maxBytes, from = 0 }: { maxBytes: number; from?: number }) {
    this.#maxBytes = maxBytes
    this.#seq = from
  }

  /** The number of current readers. */
  get readers(): number {
    return this.#readers.size
  }

  /** The `seq` of the last event; 0 before the first. */
  get seq(): number {
    return this.#seq
  }

  /** The position of the next entry. */
  get end(): number {
    return this.#first + this.#entries.length
  }

  /** Appends an event, and returns its number. */
  event(runId: string, event: AgentEvent): number {
    this.#append({ type: 'event', seq: ++this.#seq, runId, event })
    return this.#seq
  }

  append(entry: Exclude<JournalEntry, { type: 'event' }>): void {
    this.#append(entry)
  }

  /**
   * Returns the position right after the event numbered `seq`; undefined when a later event is no longer in
   * memory, or `seq` is greater than the last.
   */
  behind(seq: number): number | undefined {
    if (seq > this.#seq) return undefined
    if (seq === this.#seq) return this.end
    const index = this.#entries.findIndex(({ entry }) => entry.type === 'event' && entry.seq > seq)
    const next = this.#entries[index]?.entry
    if (next?.type !== 'event' || next.seq !== seq + 1) return undefined
    return this.#first + this.#findLead(index)
  }

  /**
   * Returns the position and `seq` of a run's first event; undefined when not all of its events are still in
   * memory.
   */
  findStart(runId: string): { position: number; seq: number } | undefined {
    const index = this.#entries.findIndex(({ entry }) => entry.type === 'event' && entry.runId === runId)
    const first = this.#entries[index]?.entry
    if (first?.type !== 'event' || first.event.type !== 'start') return undefined
    return { position: this.#first + index, seq: first.seq }
  }

  /**
   * Yields every entry from a position on, as it is appended, until the signal aborts.
   *
   * Throws `unavailable` when the reader is so slow that its next entry was evicted.
   */
  async *read(from: number, signal: AbortSignal): AsyncGenerator<JournalEntry> {
    const reader = { position: from }
    this.#readers.add(reader)
    try {
      for (; ; reader.position++) {
        while (reader.position >= this.end) await this.#growth(signal)
        const found = this.#entries[reader.position - this.#first]
        if (!found) throw tooSlow()
        yield found.entry
        if (signal.aborted) throw toCancelledError(signal)
      }
    } finally {
      this.#readers.delete(reader)
    }
  }

  /**
   * Evicts the oldest entries until at most `maxBytes` remain, but none that a current reader still has to
   * read.
   */
  trim(maxBytes: number): void {
    const unread = Math.min(this.end, ...[...this.#readers].map(({ position }) => position))
    this.#forget(maxBytes, unread - this.#first)
  }

  #forget(maxBytes: number, most: number): void {
    let count = 0
    while (this.#bytes > maxBytes && count < most) this.#bytes -= this.#entries[count++]!.bytes
    if (count === 0) return
    this.#entries = this.#entries.slice(count)
    this.#first += count
  }

  /**
   * Finds the first of the entries directly before an event that belong to it: its message and change
   * notices.
   */
  #findLead(index: number): number {
    let lead = index
    while (lead > 0 && this.#entries[lead - 1]!.entry.type !== 'event') lead--
    return lead
  }

  #append(entry: JournalEntry): void {
    const bytes = estimateBytes(entry)
    this.#entries.push({ entry, bytes })
    this.#bytes += bytes
    // A reader that waits for this entry is not slow, however large the entry is.
    const others = this.#entries.length - 1
    if (this.#bytes > this.#maxBytes) this.#forget(this.#maxBytes * KEPT_SHARE, others)
    this.#grown?.resolve()
    this.#grown = undefined
  }

  async #growth(signal: AbortSignal): Promise<void> {
    if (signal.aborted) throw toCancelledError(signal)
    this.#grown ??= Promise.withResolvers()
    const stopped = Promise.withResolvers<never>()
    const onAbort = () => stopped.reject(toCancelledError(signal))
    signal.addEventListener('abort', onAbort, { once: true })
    try {
      await Promise.race([this.#grown.promise, stopped.promise])
    } finally {
      signal.removeEventListener('abort', onAbort)
    }
  }
}

/** The share of `maxBytes` that an eviction leaves, so that a full journal is not shifted with every event. */
const KEPT_SHARE = 0.75
/** The size of an entry in addition to its text. */
const OVERHEAD_BYTES = 160

/** Estimates the memory that an entry takes. */
function estimateBytes(entry: JournalEntry): number {
  if (entry.type === 'changed') return OVERHEAD_BYTES
  if (entry.type === 'message') {
    const { content, attachments } = entry.message
    return OVERHEAD_BYTES + content.length + attachments.reduce((sum, { data }) => sum + data.length, 0)
  }
  const { event } = entry
  if (event.type === 'text' || event.type === 'thinking') return OVERHEAD_BYTES + event.delta.length
  if (event.type === 'tool-result') return OVERHEAD_BYTES + event.output.length + (event.diff?.length ?? 0)
  if (event.type === 'tool-start') {
    return event.calls.reduce((sum, call) => sum + call.arguments.length, OVERHEAD_BYTES)
  }
  if (event.type === 'ask') {
    const { permission } = event.ask
    return 2 * OVERHEAD_BYTES + (permission ? permission.arguments.length + permission.diff.length : 0)
  }
  return 2 * OVERHEAD_BYTES
}

function tooSlow(): CrabError {
  return new CrabError(
    'unavailable',
    'Cannot keep following the conversation: events arrive faster than they are read',
    {
      hint: 'attach again: the conversation is stored',
    },
  )
}
