import { maskCredentials } from '../base/mask-credentials.ts'
import type { SessionLine } from '../storage/types.ts'
import { messageText } from './message-text.ts'
import { DOCUMENT_KINDS, type DocumentKind } from './types.ts'

/** What of a session's line is found by its words; `seq` and `ts` are those of the line. */
export interface LineDocument {
  /** Place in DOCUMENT_KINDS. */
  kind: number
  /** Without what looks like a secret. Empty for a title or summary that was taken away. */
  text: string
}

/**
 * The documents of a line: one of a message of the user or an assistant (a guest is one), with the calls that it makes;
 * title and summary of a meta line, each of which replaces the session's earlier one.
 *
 * Results of tools, reasoning, attachments and events are none. A user's message that steered is one by its own entry.
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

/** UTF-16 units of a document; about as many as hold MAX_DOCUMENT_TERMS. */
const MAX_TEXT = 512 * 1024
