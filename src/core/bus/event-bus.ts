import { CrabError, toCrabError } from '../base/errors.ts'
import { ulidTime } from '../base/ids.ts'
import type { Log } from '../base/log.ts'
import type { BusEvent, EventTrace, FiredRun, TracedEvent } from './event-trace.ts'
import type { SubscriptionStore } from './subscription-store.ts'
import { type Subscription, sourceProblem } from './subscriptions.ts'

/** The most events that may lead to a run one after another (ADR 0107). */
export const MAX_DEPTH = 16

/** The largest event payload, in bytes. */
export const MAX_EVENT_PAYLOAD_BYTES = 1024 * 1024

/** The most turns started by events that may wait or run at the same time. */
export const MAX_RUNS = 1000

/** A turn that an event starts. */
export interface Firing {
  runId: string
  agent: string
  sender: string
  content: string
  eventId: string
  /** The number of events that led to it, including this one. */
  depth: number
}

/** The dependencies of an event bus. */
export interface EventBusOptions {
  store: SubscriptionStore
  trace: EventTrace
  /**
   * Starts a turn; resolves once it is accepted. The implementation reports its start and its end to `trace`.
   */
  fire(firing: Firing): Promise<void>
  /** Is called for every event; must not throw. */
  published(event: TracedEvent): void
  log: Log
  /** Aborted when the process ends. */
  shutdown: AbortSignal
  now(): number
  /** A fresh ULID. */
  newId(): string
}

/** A subscription, with the reason when it must not fire. */
interface FiringDecision {
  subscription: Subscription
  reason: CrabError | undefined
}

/**
 * Starts agents when an event is published under a source that they subscribe to (ADR 0107). There is no
 * queue and no delivery guarantee: an event published while no daemon runs starts nothing.
 */
export class EventBus {
  readonly #options: EventBusOptions
  readonly #firing = new Set<Promise<void>>()
  #problem: CrabError | undefined
  #isClosed = false

  constructor(options: EventBusOptions) {
    this.#options = options
  }

  /**
   * Starts every agent that subscribes to the source, each one once, and returns the event's id as soon as
   * the turns are handed over, without waiting for any of them. A `once` subscription is removed from the
   * disk before it fires.
   *
   * Throws `invalid` for an invalid source, payload or id, `conflict` for an id that was already published,
   * `unavailable` when the bus is closed.
   */
  async publish(event: Omit<BusEvent, 'id'> & { id?: string }): Promise<string> {
    const { trace, log, now, newId, store } = this.#options
    if (this.#isClosed) throw ending()
    checkEvent(event)
    const id = event.id || newId()
    const { source, runId, depth } = event
    const traced = trace.add({ ...event, id }, now())
    this.#options.published(traced)
    log('info', 'event published', { event: id, source, depth, ...(runId && { run: runId }) })
    const { subscriptions, problem } = await store.read()
    this.#report(problem)
    const matching = subscriptions.filter((one) => one.source === source)
    const content = toContent(event)
    for (const one of oncePerAgent(await this.#decide(matching, depth)))
      this.#fire({ ...one, traced, content })
    return id
  }

  /** Stops firing: later events are refused. */
  close(): void {
    this.#isClosed = true
  }

  /** Resolves when every fired turn was accepted or refused. */
  async settled(): Promise<void> {
    while (this.#firing.size > 0) await Promise.all(this.#firing)
  }

  /** Decides for each subscription whether this event fires it, and if not, why. */
  async #decide(matching: readonly Subscription[], depth: number): Promise<FiringDecision[]> {
    const refusal =
      depth >= MAX_DEPTH ? tooDeep(depth) : this.#options.trace.openRuns >= MAX_RUNS ? tooMany() : undefined
    if (refusal) return matching.map((subscription) => ({ subscription, reason: refusal }))
    const { ids, reason } = await this.#claim(matching)
    return matching
      .filter(({ id, once }) => !once || reason || ids.has(id)) // another event was faster
      .map((subscription) => ({ subscription, reason: subscription.once ? reason : undefined }))
  }

  /**
   * Removes the `once` subscriptions from the disk. Returns the ids that this event claimed, or why the
   * removal failed.
   */
  async #claim(matching: readonly Subscription[]): Promise<{ ids: Set<number>; reason?: CrabError }> {
    const { store, shutdown } = this.#options
    const ids = matching.filter(({ once }) => once).map(({ id }) => id)
    if (ids.length === 0) return { ids: new Set() }
    const claimed = store.remove(ids, shutdown)
    return await claimed.then(
      (found) => ({ ids: new Set(found) }),
      (failure: unknown) => ({ ids: new Set<number>(), reason: toCrabError(failure) }),
    )
  }

  #fire(at: FiringDecision & { traced: TracedEvent; content: string }): void {
    const { traced, content, subscription } = at
    const { trace, log, fire, newId } = this.#options
    const reason = this.#isClosed ? ending() : at.reason
    const { id: subscriptionId, target_agent: agent } = subscription
    const sender = `event:${traced.source}`
    const runId = reason ? '' : newId()
    const run: FiredRun = { subscriptionId, agent, sender, runId, state: 'waiting', error: '' }
    const fields = { event: traced.id, subscription: subscriptionId, agent }
    const refuse = (error: CrabError) => {
      log('warn', 'event refused', { ...fields, kind: error.kind, reason: error.message })
      if (runId === '') Object.assign(run, { state: 'refused', error: error.message })
      else trace.endRun(runId, 'refused', error.message)
    }
    if (reason) refuse(reason)
    trace.addRun(traced, run)
    if (reason) return
    log('info', 'event fired', { ...fields, run: runId })
    const firing = { runId, agent, sender, content, eventId: traced.id, depth: traced.depth + 1 }
    const done = fire(firing).catch((error: unknown) => refuse(toCrabError(error)))
    this.#firing.add(done)
    void done.then(() => this.#firing.delete(done))
  }

  /** Logs a problem with the subscriptions file, once for each distinct problem. */
  #report(problem: CrabError | undefined): void {
    if (problem && problem !== this.#problem) {
      const { log } = this.#options
      log('error', 'subscriptions are unchanged', { kind: problem.kind, reason: problem.message })
    }
    this.#problem = problem
  }
}

/**
 * Keeps the first of several subscriptions that would start the same agent; refused ones all stay, to be
 * reported.
 */
function oncePerAgent(decisions: readonly FiringDecision[]): FiringDecision[] {
  const started = new Set<string>()
  return decisions.filter(({ subscription: { target_agent: agent }, reason }) => {
    if (reason) return true
    const isFirst = !started.has(agent)
    started.add(agent)
    return isFirst
  })
}

function checkEvent({ id = '', source, payload }: { id?: string; source: string; payload: string }): void {
  const wrong = sourceProblem(source) ?? payloadProblem(payload) ?? idProblem(id)
  if (wrong !== undefined) throw new CrabError('invalid', `Cannot publish the event: ${wrong}`)
}

function payloadProblem(payload: string): string | undefined {
  const bytes = Buffer.byteLength(payload)
  if (bytes <= MAX_EVENT_PAYLOAD_BYTES) return undefined
  return `its payload of ${bytes} bytes is more than ${MAX_EVENT_PAYLOAD_BYTES}, the limit`
}

function idProblem(id: string): string | undefined {
  if (id === '' || (/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/.test(id) && ulidTime(id) !== '')) return undefined
  return 'its id is not a ULID'
}

/** Returns what the agent reads. A turn needs text, so the source stands in for a blank payload. */
function toContent({ source, payload }: Pick<BusEvent, 'source' | 'payload'>): string {
  return payload.trim() === '' ? source : payload
}

function tooDeep(depth: number): CrabError {
  return new CrabError(
    'limit',
    `Cannot continue: ${depth} events led to this one, which is the limit of a chain`,
    {
      hint: 'the limit stops agents that start each other endlessly',
    },
  )
}

function tooMany(): CrabError {
  return new CrabError(
    'throttled',
    `Cannot start another turn: ${MAX_RUNS} turns started by events are still running`,
    {
      hint: 'publish more slowly',
    },
  )
}

function ending(): CrabError {
  return new CrabError('unavailable', 'Cannot publish the event: the daemon is stopping', {
    hint: 'try again when it is running',
  })
}
