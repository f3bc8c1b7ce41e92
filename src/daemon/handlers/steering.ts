import { CrabError } from '../../core/base/errors.ts'
import { namePair } from '../../core/base/sender-class.ts'
import { completePair } from '../../core/policy/client-senders.ts'
import { classifyClient } from '../../core/policy/trust.ts'
import type { KillMsg, SteerSessionMsg } from '../../core/protocol/crabtalk.generated.ts'
import { turnLeaseName } from '../../core/runtime/leased-conversation.ts'
import type { Pair } from '../../core/storage/types.ts'
import type { Services } from '../services.ts'
import type { RequestContext } from './request-context.ts'

/**
 * Handles `steer_session`: sends a message to the running turn of a pair. Fails with `missing` when none
 * runs, `conflict` when another process runs it.
 */
export async function steerSession(
  { services, channel }: RequestContext<'node' | 'agents' | 'stores' | 'running' | 'findHolder'>,
  { agent, sender, content }: SteerSessionMsg,
): Promise<void> {
  const pair = await resolvePair(services, { agent, sender })
  try {
    services.running.steer({ pair, trust: classifyClient(channel) }, content)
  } catch (reason) {
    if (reason instanceof CrabError && reason.kind === 'missing') {
      await refuseElsewhere(services, pair, 'Cannot steer the turn')
    }
    throw reason
  }
}

/**
 * Handles `kill`: cancels what runs for a pair. Does nothing for a known idle pair; fails with `missing` for
 * an unknown one.
 */
export async function handleKill(
  { services, channel }: RequestContext<'node' | 'agents' | 'stores' | 'running' | 'findHolder'>,
  message: KillMsg,
): Promise<void> {
  const pair = await resolvePair(services, message)
  if (services.running.cancel({ pair, trust: classifyClient(channel) })) return
  const session = await refuseElsewhere(services, pair, 'Cannot interrupt the turn')
  if (session !== undefined) return
  const { agent, sender } = completePair('local', message)
  throw new CrabError(
    'missing',
    `Cannot interrupt ${namePair({ agent, sender })}: this conversation does not exist`,
    {
      hint: 'crabtalk conversation list shows all conversations',
    },
  )
}

/** Resolves the pair that a message names to the agent's id. Throws `missing` for an unknown agent. */
export async function resolvePair(
  { agents }: Pick<Services, 'agents'>,
  message: { agent: string; sender: string },
): Promise<Pair> {
  const { agent, sender } = completePair('local', message)
  return { agentId: await agents.idOf(agent), sender }
}

/** Formats the pair that a message names. */
export function describePair(message: { agent: string; sender: string }): string {
  const { agent, sender } = completePair('local', message)
  return `agent "${agent}" and sender "${sender}"`
}

/** Returns the pair's active session, if any. Throws `conflict` when another process works on it. */
async function refuseElsewhere(
  { stores, node, findHolder }: Pick<Services, 'node' | 'stores' | 'findHolder'>,
  pair: Pair,
  what: string,
): Promise<string | undefined> {
  const session = await stores.storage.activeSession(pair)
  const holder = session === undefined ? undefined : await findHolder(turnLeaseName(session))
  if (!holder || holder.pid === node.pid) return session
  throw new CrabError('conflict', `${what}: process ${holder.pid} is running it`, {
    hint: 'wait for it to end, or end that process',
  })
}
