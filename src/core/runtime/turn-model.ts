import { CrabError } from '../base/errors.ts'
import type { Pair } from '../storage/types.ts'
import { type ConversationStores, readConversation } from './leased-conversation.ts'
import type { TurnRequest } from './turn-request.ts'

/**
 * Returns the request with the model and effort of its conversation, unless the message names a model or
 * another agent answers it, and warnings about the conversation, which only its first reader gets.
 */
export async function withConversationModel(
  { stores, pair, agent }: { stores: ConversationStores; pair: Pair; agent: string },
  request: TurnRequest,
): Promise<{ request: TurnRequest; warnings: readonly string[] }> {
  const { settings, guest } = request
  const isOwn = settings.model === undefined && guest === undefined
  const active = isOwn ? await stores.storage.activeSession(pair) : undefined
  if (active === undefined) return { request, warnings: [] }
  try {
    const { conversation, warnings } = await readConversation(stores, active, agent)
    const { chosen } = conversation.history
    return { request: chosen ? { ...request, settings: { ...chosen, ...settings } } : request, warnings }
  } catch (reason) {
    if (!(reason instanceof CrabError) || reason.kind !== 'missing') throw reason
    return { request, warnings: [] } // deleted meanwhile: the turn starts a new conversation
  }
}
