import type { SessionMessage } from '../../core/protocol/crabtalk.generated.ts'
import { type Dispatch, request } from '../../core/protocol/dispatch.ts'

/** The last messages of a session, and the number of messages before them. */
export interface LastMessages {
  messages: readonly SessionMessage[]
  earlier: number
}

/** Fetches at most `most` of the last stored messages up to line `upto`, oldest first. */
export async function fetchLastMessages(
  dispatch: Dispatch,
  { session, upto, most }: { session: string; upto: number; most: number },
  signal: AbortSignal,
): Promise<LastMessages> {
  const { total } = await request(dispatch, 'listMessages', { session, offset: 0, limit: 1 }, signal)
  let messages: SessionMessage[] = []
  let offset = total
  while (offset > 0 && messages.length < most) {
    const limit = Math.min(most, offset)
    offset -= limit
    const page = await request(dispatch, 'listMessages', { session, offset, limit }, signal)
    messages = [...page.messages.filter(({ seq }) => seq <= upto), ...messages]
  }
  const cut = Math.max(0, messages.length - most)
  return { messages: messages.slice(cut), earlier: offset + cut }
}
