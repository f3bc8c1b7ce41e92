import { DEFAULT_AGENT } from '../../core/config/default-name.ts'
import { trustOf } from '../../core/policy/trust.ts'
import type { CompactMsg, CompactResponse } from '../../core/protocol/crabtalk.generated.ts'
import type { Served } from './served.ts'
import { pairOf } from './steering.ts'
import { toTokenUsage } from './stream-events.ts'
import { DEFAULT_SENDER } from './turn-message.ts'

/** `compact`: a summary in place of a pair's history. */
export async function compact(
  { services, channel }: Served,
  { agent, sender: given, model }: CompactMsg,
  signal: AbortSignal,
): Promise<CompactResponse> {
  const sender = given || DEFAULT_SENDER
  const runtime = await services.runtime(signal)
  const at = { agent: agent || DEFAULT_AGENT, sender, trust: trustOf(channel, sender) }
  const { usage, ...told } = await runtime.compact({ ...at, ...(model && { model }) }, signal)
  services.journals.changed(await pairOf(services, at))
  return { ...told, usage: usage && toTokenUsage(usage) }
}
