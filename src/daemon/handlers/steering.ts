import { CrabError } from '../../core/base/errors.ts'
import { completePair } from '../../core/policy/client-senders.ts'
import { classOfClient } from '../../core/policy/trust.ts'
import type { KillMsg, SteerSessionMsg } from '../../core/protocol/crabtalk.generated.ts'
import { turnOf } from '../../core/runtime/held-conversation.ts'
import type { Pair } from '../../core/storage/types.ts'
import type { Services } from '../services.ts'
import type { Served } from './served.ts'

/** `steer_session`: speaks to the running turn of a pair; `missing` when none runs, `conflict` when another process runs it. */
export async function steerSession(
  { services, channel }: Served,
  { agent, sender, content }: SteerSessionMsg,
): Promise<void> {
  const pair = await pairOf(services, { agent, sender })
  try {
    services.running.steer({ pair, trust: classOfClient(channel) }, content)
  } catch (reason) {
    if (reason instanceof CrabError && reason.kind === 'missing') {
      await refuseElsewhere(services, pair, 'Cannot steer the turn')
    }
    throw reason
  }
}

/**
 * `kill`: stops what runs for a pair; nothing to do for a known idle one, `missing` for an unknown one.
 */
export async function kill({ services, channel }: Served, message: KillMsg): Promise<void> {
  const pair = await pairOf(services, message)
  if (services.running.cancel({ pair, trust: classOfClient(channel) })) return
  const session = await refuseElsewhere(services, pair, 'Cannot cancel the turn')
  if (session !== undefined) return
  throw new CrabError('missing', `Cannot cancel: ${describePair(message)} have no conversation`)
}

/** The pair of a message, by the agent's identity. Throws `missing` for an unknown agent. */
export async function pairOf(
  { agents }: Services,
  message: { agent: string; sender: string },
): Promise<Pair> {
  const { agent, sender } = completePair('local', message)
  return { agentId: await agents.idOf(agent), sender }
}

/** A pair as a message names it. */
export function describePair(message: { agent: string; sender: string }): string {
  const { agent, sender } = completePair('local', message)
  return `"${agent}" and "${sender}"`
}

/** Gives the pair's active session, if there is one that no other process works on. */
async function refuseElsewhere(
  { place, node, holderOf }: Services,
  pair: Pair,
  what: string,
): Promise<string | undefined> {
  const session = await place.storage.activeSession(pair)
  const holder = session === undefined ? undefined : await holderOf(turnOf(session))
  if (!holder || holder.pid === node.pid) return session
  throw new CrabError('conflict', `${what}: process ${holder.pid} runs it`, {
    hint: 'wait for it to end, or end that process',
  })
}
