import { CrabError } from '../base/errors.ts'

/** A published event. */
export interface BusEvent {
  /** A ULID. */
  id: string
  source: string
  payload: string
  /** The run that published it by ending; empty when a client published it. */
  runId: string
  /** The number of events that led to it. */
  depth: number
}

/** The progress of a fired run; `refused` means that it never ran. */
export type FiredState = 'waiting' | 'running' | 'done' | 'failed' | 'refused'

/** A run that a subscription started. */
export interface FiredRun {
  readonly subscriptionId: number
  readonly agent: string
  readonly sender: string
  readonly runId: string
  state: FiredState
  /** The error of a run that failed or never started; otherwise empty. */
  error: string
}

/** A published event with the runs that it started. */
export interface TracedEvent extends BusEvent {
  /** Milliseconds since 1970. */
  readonly publishedAt: number
  readonly fired: FiredRun[]
}

/** The latest events of a process, with the runs that they started. */
export class EventTrace {
  /** Oldest first. */
  #events: TracedEvent[] = []
  /** Runs that have not ended, by id. */
  readonly #runs = new Map<string, FiredRun>()

  /** Stores an event with the beginning of its payload. Throws `conflict` for an id that is already stored. */
  add(event: BusEvent, publishedAt: number): TracedEvent {
    if (this.#events.some(({ id }) => id === event.id)) {
      throw new CrabError(
        'conflict',
        `Cannot publish the event: an event with the id ${event.id} was already published`,
        {
          hint: 'use a new id for a new event',
        },
      )
    }
    const traced = { ...event, payload: headBytes(event.payload, KEPT_BYTES), publishedAt, fired: [] }
    this.#events.push(traced)
    if (this.#events.length > MAX_EVENTS) this.#events.shift()
    return traced
  }

  /** Records a run that an event started, or one that was refused. */
  addRun(event: TracedEvent, run: FiredRun): void {
    event.fired.push(run)
    if (run.state === 'waiting') this.#runs.set(run.runId, run)
  }

  /** The number of unfinished runs that were started by events. */
  get openRuns(): number {
    return this.#runs.size
  }

  /** Marks a run as running. Ignores runs that no event started. */
  startRun(runId: string): void {
    const run = this.#runs.get(runId)
    if (run) run.state = 'running'
  }

  /** Records how a run ended, and the error if it failed. Ignores runs that no event started. */
  endRun(runId: string, state: Exclude<FiredState, 'waiting' | 'running'>, error = ''): void {
    const run = this.#runs.get(runId)
    if (!run) return
    this.#runs.delete(runId)
    run.state = state
    run.error = error
  }

  /** Returns the latest events, oldest first. */
  latest(limit: number): readonly TracedEvent[] {
    return this.#events.slice(-limit)
  }

  /**
   * Returns the event with this id, or the events that this run published, and every event that followed from
   * them, oldest first. Throws `missing` for an unknown id.
   */
  findChain(id: string): readonly TracedEvent[] {
    const runs = new Set<string>()
    const found = this.#events.filter((event) => {
      const isPart = event.id === id || event.runId === id || runs.has(event.runId)
      if (isPart) for (const { runId } of event.fired) runs.add(runId)
      return isPart
    })
    if (found.length > 0 || this.#events.some(({ fired }) => fired.some(({ runId }) => runId === id)))
      return found
    throw new CrabError('missing', `Cannot find the event ${id}`, {
      hint: `a daemon remembers the last ${MAX_EVENTS}; older ones are in its log`,
    })
  }
}

/** Returns the beginning of a text, at most `bytes` bytes of UTF-8, never splitting a character. */
export function headBytes(text: string, bytes: number): string {
  if (text.length * 3 <= bytes) return text
  const whole = Buffer.from(text)
  if (whole.length <= bytes) return text
  let end = bytes
  while ((whole[end]! & 0xc0) === 0x80) end--
  return whole.toString('utf8', 0, end)
}

const MAX_EVENTS = 1000
const KEPT_BYTES = 1024
