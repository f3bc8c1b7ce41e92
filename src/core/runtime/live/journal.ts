import { toCancelledError } from '../../base/abortable.ts'
import { CrabError } from '../../base/errors.ts'
import type { Attachment } from '../../base/message.ts'
import type { AgentEvent } from '../events.ts'

/** A person's message, as followers of its conversation are shown it. */
export interface JournalMessage {
  /** Its line in the session; 0 where that is not stored. */
  line: number
  content: string
  attachments: readonly Attachment[]
  /** Milliseconds since 1970. */
  at: number
}

/** One thing that happened to a conversation. */
export type JournalEntry =
  | { type: 'event'; seq: number; runId: string; event: AgentEvent }
  | { type: 'message'; runId: string; message: JournalMessage }
  /** Its session, its title, or what runs on it is another now. */
  | { type: 'changed' }

/**
 * What happened to one conversation lately, for those who follow it: a bounded tail, read by position.
 *
 * Positions count everything that was ever told, from 0.
 */
export class Journal {
  readonly #maxBytes: number
  #entries: { told: JournalEntry; bytes: number }[] = []
  /** Position of the oldest that is kept. */
  #first = 0
  #bytes = 0
  #seq = 0
  #grown: PromiseWithResolvers<void> | undefined
  /** Where each of those who read it now stands. */
  readonly #readers = new Set<{ position: number }>()

  /** Counts on behind `from`. */
  constructor({ maxBytes, from = 0 }: { maxBytes: number; from?: number }) {
    this.#maxBytes = maxBytes
    this.#seq = from
  }

  /** How many read it now. */
  get readers(): number {
    return this.#readers.size
  }

  /** `seq` of the last event; 0 before the first. */
  get seq(): number {
    return this.#seq
  }

  /** Where what is told next will stand. */
  get end(): number {
    return this.#first + this.#entries.length
  }

  /** Numbers an event and tells it. */
  event(runId: string, event: AgentEvent): number {
    this.#tell({ type: 'event', seq: ++this.#seq, runId, event })
    return this.#seq
  }

  append(told: Exclude<JournalEntry, { type: 'event' }>): void {
    this.#tell(told)
  }

  /** Where what came after an event begins; undefined when not all of that is kept. */
  behind(seq: number): number | undefined {
    if (seq > this.#seq) return undefined
    if (seq === this.#seq) return this.end
    const index = this.#entries.findIndex(({ told }) => told.type === 'event' && told.seq > seq)
    const next = this.#entries[index]?.told
    if (next?.type !== 'event' || next.seq !== seq + 1) return undefined
    return this.#first + this.#findLead(index)
  }

  /** Where the events of a run begin, and the first one's `seq`; undefined when not all of them are kept. */
  findStart(runId: string): { position: number; seq: number } | undefined {
    const index = this.#entries.findIndex(({ told }) => told.type === 'event' && told.runId === runId)
    const first = this.#entries[index]?.told
    if (first?.type !== 'event' || first.event.type !== 'start') return undefined
    return { position: this.#first + index, seq: first.seq }
  }

  /**
   * Everything from a position on, as it is told, until the signal aborts.
   *
   * Throws `unavailable` when whoever reads is so slow that what it needs is not kept any more.
   */
  async *read(from: number, signal: AbortSignal): AsyncGenerator<JournalEntry> {
    const reader = { position: from }
    this.#readers.add(reader)
    try {
      for (; ; reader.position++) {
        while (reader.position >= this.end) await this.#growth(signal)
        const kept = this.#entries[reader.position - this.#first]
        if (!kept) throw tooSlow()
        yield kept.told
        if (signal.aborted) throw toCancelledError(signal)
      }
    } finally {
      this.#readers.delete(reader)
    }
  }

  /** Forgets the oldest until no more than so many bytes are kept, but nothing that somebody has still to read. */
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

  /** The message and the news that stand right before an event belong to it. */
  #findLead(index: number): number {
    let lead = index
    while (lead > 0 && this.#entries[lead - 1]!.told.type !== 'event') lead--
    return lead
  }

  #tell(told: JournalEntry): void {
    const bytes = estimateBytes(told)
    this.#entries.push({ told, bytes })
    this.#bytes += bytes
    const others = this.#entries.length - 1 // whoever waits for this one is not slow, however long it is
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

/** So that what is full is not shifted with every event. */
const KEPT_SHARE = 0.75
/** What one thing takes besides its text. */
const OVERHEAD_BYTES = 160

/** What a thing takes in memory, about. */
function estimateBytes(told: JournalEntry): number {
  if (told.type === 'changed') return OVERHEAD_BYTES
  if (told.type === 'message') {
    const { content, attachments } = told.message
    return OVERHEAD_BYTES + content.length + attachments.reduce((sum, { data }) => sum + data.length, 0)
  }
  const { event } = told
  if (event.type === 'text' || event.type === 'thinking') return OVERHEAD_BYTES + event.delta.length
  if (event.type === 'tool-result') return OVERHEAD_BYTES + event.output.length
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
    'Cannot follow the conversation: too much came since this was last read',
    {
      hint: 'attach again: what was said is stored',
    },
  )
}
