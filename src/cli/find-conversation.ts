import { CrabError } from '../core/base/errors.ts'
import type { ConversationInfo } from '../core/protocol/crabtalk.generated.ts'
import { type Dispatch, request } from '../core/protocol/dispatch.ts'

/** The number of characters in a short id; the last ones, because the first ones are the time. */
const SHORT_ID_CHARS = 8

/** Returns the short form of a session id. */
export function shortId(id: string): string {
  return id.slice(-SHORT_ID_CHARS)
}

/** The conversations to list; a limit of 0 means all. */
interface ListFilter {
  agent?: string
  sender?: string
  cwd?: string
  offset?: number
  limit: number
}

/** Reads conversations, newest first, in as many requests as needed, and the total number of matches. */
export async function readConversations(
  dispatch: Dispatch,
  { offset = 0, limit, ...filters }: ListFilter,
  signal: AbortSignal,
): Promise<{ conversations: ConversationInfo[]; total: number }> {
  const found: ConversationInfo[] = []
  for (;;) {
    const page = { ...filters, offset: offset + found.length, limit: limit && limit - found.length }
    const { conversations, total } = await request(dispatch, 'listConversations', page, signal)
    found.push(...conversations)
    const isOver = conversations.length === 0 || offset + found.length >= total || found.length === limit
    if (isOver) return { conversations: found, total }
  }
}

/**
 * Finds the conversation whose id ends with `id`, or the latest one at AGENT/SENDER; without an id, the
 * latest of all. Throws `missing` when there is none, `conflict` when several match.
 */
export async function findConversation(
  dispatch: Dispatch,
  id: string | undefined,
  signal: AbortSignal,
): Promise<ConversationInfo> {
  const { conversations } = await readConversations(dispatch, { limit: id === undefined ? 1 : 0 }, signal)
  const found =
    id === undefined ? conversations.slice(0, 1) : conversations.filter((info) => hasIdSuffix(info, id))
  const current = conversations.find(({ agent, sender }) => `${agent}/${sender}` === id)
  if (current) return current
  const [only, ...more] = found
  if (only && more.length === 0) return only
  const hint = 'crabtalk conversation list shows all conversations'
  if (only)
    throw new CrabError('conflict', `Cannot choose: ${found.length} conversations end in "${id}"`, {
      hint: 'give more of the id',
    })
  throw new CrabError(
    'missing',
    id === undefined ? 'No conversations yet' : `Cannot find the conversation "${id}"`,
    { hint },
  )
}

function hasIdSuffix({ filePath }: ConversationInfo, id: string): boolean {
  return id !== '' && filePath.toUpperCase().endsWith(id.toUpperCase())
}
