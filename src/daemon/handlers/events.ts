import { CrabError } from '../../core/base/errors.ts'
import type {
  FiredRun as Fired,
  FiredState as FiredStateName,
  TracedEvent as Traced,
} from '../../core/bus/event-trace.ts'
import type { Subscription } from '../../core/bus/subscriptions.ts'
import { DEFAULT_AGENT } from '../../core/config/default-name.ts'
import {
  type AgentEventMsg,
  type EventTrace,
  type FiredRun,
  FiredState,
  type PublishEventMsg,
  type SubscribeEventMsg,
  type SubscribeEvents,
  type SubscriptionInfo,
  type SubscriptionList,
  type TracedEvent,
  type TraceEvent,
} from '../../core/protocol/crabtalk.generated.ts'
import type { DaemonBus } from '../event-bus.ts'
import type { Services } from '../services.ts'
import { DEFAULT_WIRE_KINDS, toAgentEvent } from './agent-events.ts'

/**
 * Handles `subscribe_event`; without a daemon, the subscription takes effect in the next one. Throws
 * `missing` for an unknown agent.
 */
export async function subscribeEvent(
  { agents, subscriptions }: Pick<Services, 'agents' | 'subscriptions'>,
  { source, targetAgent, once }: SubscribeEventMsg,
  signal: AbortSignal,
): Promise<SubscriptionInfo> {
  const { name } = await agents.get(targetAgent || DEFAULT_AGENT, { create: false })
  return toSubscriptionInfo(await subscriptions.add({ source, target_agent: name, once }, signal))
}

/** Handles `unsubscribe_event`. Throws `missing` for an unknown id. */
export async function unsubscribeEvent(
  { subscriptions }: Pick<Services, 'subscriptions'>,
  id: number,
  signal: AbortSignal,
): Promise<void> {
  const ended = await subscriptions.remove([id], signal)
  if (ended.length > 0) return
  throw new CrabError('missing', `Cannot remove subscription ${id}: it does not exist`, {
    hint: 'crabtalk events list shows the current ones',
  })
}

/** Handles `list_subscriptions`: returns the current subscriptions and the issues of their file. */
export async function listSubscriptions({
  subscriptions,
}: Pick<Services, 'subscriptions'>): Promise<SubscriptionList> {
  const { subscriptions: list, problem } = await subscriptions.read()
  return { subscriptions: list.map(toSubscriptionInfo), problems: problem ? problem.message.split('\n') : [] }
}

/** Handles `publish_event`; resolves when the turns it starts are on their way. */
export async function publishEvent(
  services: Pick<Services, 'bus'>,
  { id, source, payload }: PublishEventMsg,
): Promise<void> {
  const { bus } = requireBus(services, 'publish the event: subscriptions fire only in a daemon')
  await bus.publish({ id, source, payload, runId: '', depth: 0 })
}

/** Handles `trace_event`: returns what events started, as far as this daemon remembers. */
export function traceEvent(services: Pick<Services, 'bus'>, { id, limit }: TraceEvent): EventTrace {
  const { trace } = requireBus(services, 'trace events: only a daemon records what they triggered')
  const events = id === '' ? trace.latest(limit || DEFAULT_LIMIT) : trace.findChain(id)
  return { events: events.map(toTracedEvent) }
}

/** Handles `subscribe_events`: yields what agents do in this process from now on. */
export async function* subscribeEvents(
  services: Pick<Services, 'events'>,
  { kinds }: SubscribeEvents,
  signal: AbortSignal,
): AsyncGenerator<AgentEventMsg> {
  const requested = new Set(kinds.length === 0 ? DEFAULT_WIRE_KINDS : kinds)
  for await (const daemonEvent of services.events.listen(signal)) {
    const event = toAgentEvent(daemonEvent, requested)
    if (event) yield event
  }
}

const DEFAULT_LIMIT = 100

function requireBus({ bus }: Pick<Services, 'bus'>, what: string): DaemonBus {
  if (bus) return bus
  throw new CrabError('unavailable', `Cannot ${what}`, { hint: 'start one with crabtalk daemon run' })
}

function toSubscriptionInfo({ id, source, target_agent, once }: Subscription): SubscriptionInfo {
  return { id, source, targetAgent: target_agent, once }
}

function toTracedEvent({ publishedAt, fired, ...event }: Traced): TracedEvent {
  return { ...event, publishedAt: new Date(publishedAt).toISOString(), fired: fired.map(toFiredRun) }
}

function toFiredRun(run: Fired): FiredRun {
  return { ...run, runId: run.state === 'refused' ? '' : run.runId, state: STATES[run.state] }
}

const STATES: Record<FiredStateName, FiredState> = {
  waiting: FiredState.WAITING,
  running: FiredState.RUNNING,
  done: FiredState.DONE,
  failed: FiredState.FAILED,
  refused: FiredState.REFUSED,
}
