import type { Dispatch } from '../../core/protocol/dispatch.ts'

/**
 * Resolves a conversation's full id from its end, as listings show it. Throws `missing` when there is none,
 * `conflict` when there are several.
 */
export async function resolveConversationId(
  id: string | undefined,
  dispatch: Dispatch,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (id === undefined) return undefined
  const { findConversation } = await import('../../cli/find-conversation.ts')
  return (await findConversation(dispatch, id, signal)).filePath
}
