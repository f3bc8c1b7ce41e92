import { CrabError, toCrabError } from '../base/errors.ts'
import { ulidTime } from '../base/ids.ts'
import type { Log } from '../base/log.ts'
import type { BusEvent, EventTrace, FiredRun, TracedEvent } from './event-trace.ts'
import type { SubscriptionStore } from './subscription-store.ts'
import { type Subscription, sourceProblem } from './subscriptions.ts'

/** So many events may lead to a run, one after another (decision 22). */
export const MAX_DEPTH = 16

/** Most bytes of what an event carries. */
export const MAX_EVENT_PAYLOAD_BYTES = 1024 * 1024

/** So many turns that events began may wait or run at a time. */
export const MAX_RUNS = 1000

/** A turn that an event begins. */
export interface Firing {
  runId: string
  agent: string
  sender: string
  content: string
  eventId: string
  /** How many events led to it, this one included. */
  depth: number
}

export interface EventBusOptions {
  store: SubscriptionStore
  trace: EventTrace
  /** Begins a turn; resolves when nothing refuses it any more. The trace is told of its start and its end. */
  fire(firing: Firing): Promise<void>
  /** Is told of every event; it must not throw. */
  published(event: TracedEvent): void
  log: Log
  /** Aborted with the process. */
  over: AbortSignal
  now(): number
  /** A fresh ULID. */
  newId(): string
}

/** A subscription, and why it must not fire if it must not. */
interface FiringDecision {
  subscription: Subscription
  reason: CrabError | undefined
}

/**
 * Starts agents when something is published under a source that they are subscribed to (RFC 0121). No queue and no delivery
 * for certain: what is published while no daemon runs starts nothing.
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
   * Starts every agent that is subscribed to the source, once, and gives the event's id when the turns are on their way; none
   * of them is waited for. A subscription that fires once is gone from the disk before it fires.
   *
   * Throws `invalid` for a source, payload or id that is none, `conflict` for a known id, `unavailable` when the bus is closed.
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
    const meant = subscriptions.filter((one) => one.source === source)
    const content = toContent(event)
    for (const one of oncePerAgent(await this.#decide(meant, depth))) this.#fire({ ...one, traced, content })
    return id
  }

  /** From now on nothing is fired any more. */
  close(): void {
    this.#isClosed = true
  }

  /** Resolves when no turn is on its way to its conversation. */
  async settled(): Promise<void> {
    while (this.#firing.size > 0) await Promise.all(this.#firing)
  }

  /** Which of them this event fires, or why it does not. */
  async #decide(meant: readonly Subscription[], depth: number): Promise<FiringDecision[]> {
    const refusal =
      depth >= MAX_DEPTH ? tooDeep(depth) : this.#options.trace.openRuns >= MAX_RUNS ? tooMany() : undefined
    if (refusal) return meant.map((subscription) => ({ subscription, reason: refusal }))
    const { ids, reason } = await this.#claim(meant)
    return meant
      .filter(({ id, once }) => !once || reason || ids.has(id)) // another event was faster
      .map((subscription) => ({ subscription, reason: subscription.once ? reason : undefined }))
  }

  /** Takes those that fire once off the disk: the ids that are this event's, or why that failed. */
  async #claim(meant: readonly Subscription[]): Promise<{ ids: Set<number>; reason?: CrabError }> {
    const { store, over } = this.#options
    const ids = meant.filter(({ once }) => once).map(({ id }) => id)
    if (ids.length === 0) return { ids: new Set() }
    const claimed = store.remove(ids, over)
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
    const told = { event: traced.id, subscription: subscriptionId, agent }
    const refuse = (error: CrabError) => {
      log('warn', 'event refused', { ...told, kind: error.kind, reason: error.message })
      if (runId === '') Object.assign(run, { state: 'refused', error: error.message })
      else trace.ended(runId, 'refused', error.message)
    }
    if (reason) refuse(reason)
    trace.fired(traced, run)
    if (reason) return
    log('info', 'event fired', { ...told, run: runId })
    const firing = { runId, agent, sender, content, eventId: traced.id, depth: traced.depth + 1 }
    const done = fire(firing).catch((error: unknown) => refuse(toCrabError(error)))
    this.#firing.add(done)
    void done.then(() => this.#firing.delete(done))
  }

  /** Says once why the file is not the table that holds. */
  #report(problem: CrabError | undefined): void {
    if (problem && problem !== this.#problem) {
      const { log } = this.#options
      log('error', 'subscriptions stay as they were', { kind: problem.kind, reason: problem.message })
    }
    this.#problem = problem
  }
}

/** Of several subscriptions that would start one agent the first; those that must not fire stay, to be told. */
function oncePerAgent(decided: readonly FiringDecision[]): FiringDecision[] {
  const started = new Set<string>()
  return decided.filter(({ subscription: { target_agent: agent }, reason }) => {
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
  return 'its id is no ULID'
}

/** What the agent reads; no turn begins without a word. */
function toContent({ source, payload }: Pick<BusEvent, 'source' | 'payload'>): string {
  return payload.trim() === '' ? source : payload
}

function tooDeep(depth: number): CrabError {
  return new CrabError('limit', `Cannot go on: ${depth} events led to this one, the limit of a chain`, {
    hint: 'agents that start each other never come to an end',
  })
}

function tooMany(): CrabError {
  return new CrabError(
    'throttled',
    `Cannot start another turn: ${MAX_RUNS} that events began have not ended`,
    {
      hint: 'publish more slowly',
    },
  )
}

function ending(): CrabError {
  return new CrabError('unavailable', 'Cannot publish the event: the daemon is ending', {
    hint: 'try again when it is back',
  })
}
