import type { Message } from '../base/message.ts'
import type { Cursor, SessionHeader, SessionLine, SessionPart } from '../storage/types.ts'

/** A session as far as it was read: what a request is built from, and where to append. */
export interface Conversation {
  readonly id: string
  readonly header: SessionHeader
  readonly cursor: Cursor
  /** Replayed from the last compact marker. */
  readonly messages: readonly Message[]
}

/** A conversation with what a storage read brought; `before` is what the read was asked to start from. */
export function advance(id: string, part: SessionPart, before: Conversation | undefined): Conversation {
  const messages = before && !part.whole ? [...before.messages] : []
  return { id, header: part.header, cursor: part.cursor, messages: replay(messages, part.lines) }
}

/** Adds lines to a history: entries are appended, a compact marker starts it anew. */
export function replay(messages: Message[], lines: readonly SessionLine[]): Message[] {
  let history = messages
  for (const line of lines) {
    if (line.kind === 'entry') history.push(toMessage(line))
    else if (line.kind === 'compact') history = [missingArchive(line.title)]
  }
  return history
}

function toMessage({
  kind: _kind,
  seq: _seq,
  ts: _ts,
  ...message
}: SessionLine & { kind: 'entry' }): Message {
  return message
}

function missingArchive(title: string): Message {
  return {
    role: 'user',
    content: `[Earlier messages were archived as "${title}"; the archive is not available.]`,
  }
}
