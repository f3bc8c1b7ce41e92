import { shownTitle } from '../../core/base/auto-title.ts'
import { toCrabError } from '../../core/base/errors.ts'
import { isWindowSender } from '../../core/base/sender-class.ts'
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
  const [looked, drafts] = await Promise.all([ports.memory.readLookedAt(), ports.memory.readDrafts()])
  const last = await findLastChat(ports, { ...place, looked }, signal)
  const isFree = last?.windows === 0
  const since = last && isFree ? Date.parse(last.updatedAt) : 0
  const unsent: StoredDraft[] = []
  for (const draft of drafts.filter((one) => isHere(one, place) && one.savedAt > since))
    if (await isUnsent(ports, draft, signal)) unsent.push(draft)
  return {
    candidates: [
      ...unsent.map(({ sender }) => ({ sender, session: undefined })),
      ...(last && isFree ? [{ sender: last.sender, session: last.filePath }] : []),
    ],
    last: last && shownTitle(last),
  }
}

/** The number of conversations per page: scripts may have left thousands behind in a directory. */
const PAGE_ROWS = 100

/** Returns the latest conversation of the directory in which the user talked. */
async function findLastChat(
  { dispatch }: Pick<ChatPorts, 'dispatch'>,
  { agent, cwd, person, looked }: WindowPlace & { looked: ReadonlyMap<string, number> },
  signal: AbortSignal,
): Promise<ConversationInfo | undefined> {
  for (let offset = 0; ; ) {
    const page = { agent, cwd, offset, limit: PAGE_ROWS }
    const { conversations, total } = await listConversations(dispatch, page, signal)
    const found = conversations.find((one) => isChat(one, { person, looked }))
    offset += conversations.length
    if (found || conversations.length === 0 || offset >= total) return found
  }
}

async function listConversations(
  dispatch: ChatPorts['dispatch'],
  message: Parameters<typeof request<'listConversations'>>[2],
  signal: AbortSignal,
): Promise<{ conversations: readonly ConversationInfo[]; total: number }> {
  try {
    return await request(dispatch, 'listConversations', message, signal)
  } catch (reason) {
    if (toCrabError(reason).kind !== 'missing') throw reason
    return { conversations: [], total: 0 } // following the pair reports an agent that does not exist
  }
}

/** Whether the user talked there: in a window, with `send -c`, or as the person. */
function isChat(
  { sender, filePath }: ConversationInfo,
  { person, looked }: { person: string; looked: ReadonlyMap<string, number> },
): boolean {
  return sender === person || (isWindowSender(sender) && looked.has(filePath))
}

function isHere(draft: StoredDraft, { agent, cwd }: WindowPlace): boolean {
  return draft.agent === agent && draft.cwd === cwd && isWindowSender(draft.sender)
}

/** Whether nothing was sent to the conversation of a draft. */
async function isUnsent(
  { dispatch }: Pick<ChatPorts, 'dispatch'>,
  { agent, sender }: StoredDraft,
  signal: AbortSignal,
): Promise<boolean> {
  return (await listConversations(dispatch, { agent, sender, limit: 1 }, signal)).conversations.length === 0
}
