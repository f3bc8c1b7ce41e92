import type { Dispatch } from '../../core/protocol/dispatch.ts'

/** A conversation's whole id by the end of it, as listings show it. Throws `missing` when there is none, `conflict` for several. */
export async function resolveConversationId(
  id: string | undefined,
  dispatch: Dispatch,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (id === undefined) return undefined
  const { findConversation } = await import('../conversation/find.ts')
  return (await findConversation(dispatch, id, signal)).filePath
}
