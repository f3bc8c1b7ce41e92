import { shownTitle } from '../../core/base/auto-title.ts'
import { toCrabError } from '../../core/base/errors.ts'
import type { ConversationInfo } from '../../core/protocol/crabtalk.generated.ts'
import { request } from '../../core/protocol/dispatch.ts'
import type { ChatPorts, StoredDraft } from '../ports.ts'

/** A conversation that a new window may open; without a session it has only a draft. */
export interface Candidate {
  sender: string
  session: string | undefined
}

/** The agent and the directory of a window, and the sender of its user. */
export interface WindowPlace {
  agent: string
  cwd: string
  person: string
}

/**
 * Finds the conversations that a window in a directory continues, best first: a new one with a draft that is
 * younger than the last conversation, and the last conversation itself. `last` is the name of that one.
 */
export async function findDirectoryConversations(
  ports: Pick<ChatPorts, 'dispatch' | 'memory'>,
  place: WindowPlace,
  signal: AbortSignal,
): Promise<{ candidates: readonly Candidate[]; last: string | undefined }> {
  const [conversations, looked, drafts] = await Promise.all([
    listConversations(ports, place, signal),
    ports.memory.readLookedAt(),
    ports.memory.readDrafts(),
  ])
  const last = conversations.find((one) => isChat(one, { person: place.person, looked }))
  const isFree = last?.windows === 0
  const since = last && isFree ? Date.parse(last.updatedAt) : 0
  const unsent = drafts.filter((draft) => isUnsent(draft, place, conversations) && draft.savedAt > since)
  return {
    candidates: [
      ...unsent.map(({ sender }) => ({ sender, session: undefined })),
      ...(last && isFree ? [{ sender: last.sender, session: last.filePath }] : []),
    ],
    last: last && shownTitle(last),
  }
}

async function listConversations(
  { dispatch }: Pick<ChatPorts, 'dispatch'>,
  { agent, cwd }: WindowPlace,
  signal: AbortSignal,
): Promise<readonly ConversationInfo[]> {
  try {
    return (await request(dispatch, 'listConversations', { agent, cwd }, signal)).conversations
  } catch (reason) {
    if (toCrabError(reason).kind !== 'missing') throw reason
    return [] // following the pair reports an agent that does not exist
  }
}

/** Whether the user talked there: in a window, with `send -c`, or as the person. */
function isChat(
  { sender, filePath }: ConversationInfo,
  { person, looked }: { person: string; looked: ReadonlyMap<string, number> },
): boolean {
  return sender === person || (sender.startsWith('sh:') && looked.has(filePath))
}

function isUnsent(
  draft: StoredDraft,
  { agent, cwd }: WindowPlace,
  conversations: readonly ConversationInfo[],
): boolean {
  const isHere = draft.agent === agent && draft.cwd === cwd && draft.sender.startsWith('sh:')
  return isHere && conversations.every(({ sender }) => sender !== draft.sender)
}
