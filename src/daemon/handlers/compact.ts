import { completePair } from '../../core/policy/client-senders.ts'
import { trustOf } from '../../core/policy/trust.ts'
import type { CompactMsg, CompactResponse } from '../../core/protocol/crabtalk.generated.ts'
import type { Served } from './served.ts'
import { pairOf } from './steering.ts'
import { toTokenUsage } from './stream-events.ts'

/** `compact`: a summary in place of a pair's history. */
export async function compact(
  { services, channel }: Served,
  message: CompactMsg,
  signal: AbortSignal,
): Promise<CompactResponse> {
  const { model } = message
  const pair = completePair(channel, message)
  const runtime = await services.runtime(signal)
  const at = { ...pair, trust: trustOf(channel, pair.sender) }
  const { usage, ...told } = await runtime.compact({ ...at, ...(model && { model }) }, signal)
  services.journals.changed(await pairOf(services, at))
  return { ...told, usage: usage && toTokenUsage(usage) }
}
