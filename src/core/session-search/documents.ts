import { maskCredentials } from '../base/mask-credentials.ts'
import type { SessionLine } from '../storage/types.ts'
import { messageText } from './message-text.ts'
import { DOCUMENT_KINDS, type DocumentKind } from './types.ts'

/** A searchable text of a session's line; its `seq` and `ts` are those of the line. */
export interface LineDocument {
  /** The index in DOCUMENT_KINDS. */
  kind: number
  /** The text without anything that looks like a secret. Empty for a title or summary that was removed. */
  text: string
}

/**
 * Returns the documents of a line: one for a message of the user, an assistant or a guest, including its tool
 * calls; and the title and summary of a meta line, each of which replaces the session's earlier one.
 *
 * Tool results, reasoning, attachments and events are not searched. A user's message that steered a turn is
 * found by its own entry.
 */
export function toDocuments(line: SessionLine): LineDocument[] {
  if (line.kind === 'meta') {
    return [...toDocument('title', line.title), ...toDocument('summary', line.summary)]
  }
  if (line.kind !== 'entry' || line.role === 'tool') return []
  const text = messageText(line)
  if (text.trim() === '') return []
  if (line.role === 'user') return toDocument('user', text)
  return toDocument((line.tool_calls?.length ?? 0) > 0 ? 'tool_use' : 'assistant', text)
}

function toDocument(kind: DocumentKind, text: string | undefined): LineDocument[] {
  if (text === undefined) return []
  return [{ kind: DOCUMENT_KINDS.indexOf(kind), text: maskCredentials(text.slice(0, MAX_TEXT), ' ') }]
}

/**
 * The maximum length of a document in UTF-16 units, which is about the length that holds MAX_DOCUMENT_TERMS
 * terms.
 */
const MAX_TEXT = 512 * 1024
