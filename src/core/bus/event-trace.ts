import { CrabError } from '../base/errors.ts'

/** What is published. */
export interface BusEvent {
  /** A ULID. */
  id: string
  source: string
  payload: string
  /** The run whose end it is; empty: a client published it. */
  runId: string
  /** How many events led to it. */
  depth: number
}

/** How far a fired run is; `refused`: nothing ran. */
export type FiredState = 'waiting' | 'running' | 'done' | 'failed' | 'refused'

/** A run that a subscription began. */
export interface FiredRun {
  readonly subscriptionId: number
  readonly agent: string
  readonly sender: string
  readonly runId: string
  state: FiredState
  /** Why it failed, or never began; empty otherwise. */
  error: string
}

/** A published event, and what it set off. */
export interface TracedEvent extends BusEvent {
  /** Milliseconds since 1970. */
  readonly publishedAt: number
  readonly fired: FiredRun[]
}

/** The last events of a process, with the runs they began. */
export class EventTrace {
  /** Oldest first. */
  #events: TracedEvent[] = []
  /** Runs that have not ended, by id. */
  readonly #runs = new Map<string, FiredRun>()

  /** Keeps an event; of its payload the beginning. Throws `conflict` for an id that is known. */
  add(event: BusEvent, publishedAt: number): TracedEvent {
    if (this.#events.some(({ id }) => id === event.id)) {
      throw new CrabError('conflict', `Cannot publish the event: one with the id ${event.id} was published`, {
        hint: 'it is there already; another one needs an id of its own',
      })
    }
    const traced = { ...event, payload: headBytes(event.payload, KEPT_BYTES), publishedAt, fired: [] }
    this.#events.push(traced)
    if (this.#events.length > MAX_EVENTS) this.#events.shift()
    return traced
  }

  /** Notes what an event set off, or would have. */
  fired(event: TracedEvent, run: FiredRun): void {
    event.fired.push(run)
    if (run.state === 'waiting') this.#runs.set(run.runId, run)
  }

  /** How many runs that events began have not ended. */
  get openRuns(): number {
    return this.#runs.size
  }

  /** A run is past its start; one that no event began is none of ours. */
  began(runId: string): void {
    const run = this.#runs.get(runId)
    if (run) run.state = 'running'
  }

  /** A run is over: well, or why not. */
  ended(runId: string, state: Exclude<FiredState, 'waiting' | 'running'>, error = ''): void {
    const run = this.#runs.get(runId)
    if (!run) return
    this.#runs.delete(runId)
    run.state = state
    run.error = error
  }

  /** The last events, oldest first. */
  latest(limit: number): readonly TracedEvent[] {
    return this.#events.slice(-limit)
  }

  /** One event, or those that a run published, with everything that came of them, oldest first. Throws `missing`. */
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
      hint: `a daemon remembers the last ${MAX_EVENTS}; older ones stand in its log`,
    })
  }
}

/** The beginning of a text, at most so many bytes, cut at a character. */
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
