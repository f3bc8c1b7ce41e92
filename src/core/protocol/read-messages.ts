import type { SessionMessage } from './crabtalk.generated.ts'
import { type Dispatch, request } from './dispatch.ts'

const PAGE = 500

/** Reads all messages of a session, oldest first, page by page. */
export async function* readMessages(
  dispatch: Dispatch,
  session: string,
  signal: AbortSignal,
): AsyncGenerator<SessionMessage> {
  for (let offset = 0; ; ) {
    const page = { session, offset, limit: PAGE }
    const { messages, total } = await request(dispatch, 'listMessages', page, signal)
    yield* messages
    offset += messages.length
    if (offset >= total || messages.length === 0) return
  }
}

/** Reads the answers of a session that have text, newest first, page by page from the end. */
export async function* readAnswersBackwards(
  dispatch: Dispatch,
  session: string,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const { total } = await request(dispatch, 'listMessages', { session, offset: 0, limit: 1 }, signal)
  for (let end = total; end > 0; ) {
    const offset = Math.max(0, end - BACK_PAGE)
    const messages: SessionMessage[] = []
    while (offset + messages.length < end) {
      const from = offset + messages.length
      const page = await request(
        dispatch,
        'listMessages',
        { session, offset: from, limit: end - from },
        signal,
      )
      if (page.messages.length === 0) break
      messages.push(...page.messages)
    }
    for (const { role, content } of messages.toReversed()) {
      if (role === 'assistant' && content.trim() !== '') yield content
    }
    end = offset
  }
}

const BACK_PAGE = 50
