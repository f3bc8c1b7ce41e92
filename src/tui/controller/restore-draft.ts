import type { ChatPorts } from '../ports.ts'
import type { ChatStore } from '../state/store.ts'
import { withDraft } from '../text/prompt.ts'

/**
 * Puts the draft that a killed window has left for a conversation into the composer. The draft of a window
 * that still has the conversation open stays there.
 */
export async function restoreDraft(
  { store, memory }: { store: ChatStore; memory: ChatPorts['memory'] },
  { agent, sender }: { agent: string; sender: string },
): Promise<void> {
  if (store.get().followers > 1) return
  const drafts = await memory.readDrafts()
  const found = drafts.find((draft) => draft.agent === agent && draft.sender === sender)
  if (!found) return
  store.act({ type: 'set', change: { prompt: withDraft(store.get().prompt, found) } })
  await memory.removeDraft(found.id)
}
