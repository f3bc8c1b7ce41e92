import { CrabError } from '../../core/base/errors.ts'
import { completePair } from '../../core/policy/client-senders.ts'
import { classifyTurn } from '../../core/policy/trust.ts'
import type { CompactMsg, CompactResponse } from '../../core/protocol/crabtalk.generated.ts'
import type { RequestContext } from './request-context.ts'
import { resolvePair } from './steering.ts'
import { toTokenUsage } from './stream-events.ts'

/** Handles `compact`: replaces a pair's history with a summary. */
export async function handleCompact(
  { services, channel }: RequestContext<'agents' | 'journals' | 'runtime'>,
  message: CompactMsg,
  signal: AbortSignal,
): Promise<CompactResponse> {
  const { model, session, focus } = message
  if (focus.length > MAX_FOCUS)
    throw new CrabError(
      'invalid',
      `Cannot compact the conversation: the wish for the summary is longer than ${MAX_FOCUS} characters`,
    )
  const pair = completePair(channel, message)
  const runtime = await services.runtime(signal)
  const at = { ...pair, trust: classifyTurn(channel, pair.sender) }
  const { usage, ...result } = await runtime.compact(
    { ...at, ...(model && { model }), ...(session && { session }), ...(focus && { focus }) },
    signal,
  )
  services.journals.changed(await resolvePair(services, at))
  return { ...result, usage: usage && toTokenUsage(usage) }
}

/** The most characters of a user's wish for the summary. */
const MAX_FOCUS = 2000
