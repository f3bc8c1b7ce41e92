import type { Message } from '../base/message.ts'
import { readRule } from '../config/rule-syntax.ts'
import type { Rule } from '../policy/types.ts'
import type { Cursor, SessionHeader, SessionLine, SessionPart } from '../storage/types.ts'

/** What the lines of a session come to. */
export interface History {
  /** What a request is built from, from the last compact marker on. */
  readonly messages: readonly Message[]
  /** What a person allowed for the rest of this conversation. */
  readonly grants: readonly Rule[]
  /** Versions of the files the model saw or wrote, by resolved path. */
  readonly files: ReadonlyMap<string, string>
}

/** A session as far as it was read, and where to append. */
export interface Conversation {
  readonly id: string
  readonly header: SessionHeader
  readonly cursor: Cursor
  readonly history: History
}

export const NO_HISTORY: History = { messages: [], grants: [], files: new Map() }

/** A conversation with what a storage read brought; `before` is what the read was asked to start from. */
export function advance(id: string, part: SessionPart, before: Conversation | undefined): Conversation {
  const history = before && !part.whole ? before.history : NO_HISTORY
  return { id, header: part.header, cursor: part.cursor, history: replay(history, part.lines) }
}

/** A history with further lines: entries are appended, a compact marker starts the messages anew. */
export function replay(before: History, lines: readonly SessionLine[]): History {
  let messages = [...before.messages]
  const grants = [...before.grants]
  const files = new Map(before.files)
  for (const line of lines) {
    if (line.kind === 'entry') messages.push(toMessage(line))
    if (line.kind === 'compact') {
      messages = [missingArchive(line.title)]
      files.clear() // what was in them is no longer before the model
    }
    if (line.kind !== 'event') continue
    if (line.event === 'tool_result')
      for (const { path, version } of line.files ?? []) files.set(path, version)
    if (line.event === 'permission' && line.grant === 'session')
      grants.push(...(line.rules ?? []).filter(isRule).map(toGrant)) // what cannot be read grants nothing
  }
  return { messages, grants, files }
}

function isRule(pattern: string): boolean {
  return readRule(pattern).ok
}

/** What a person allowed for the rest of a conversation. */
export function toGrant(pattern: string): Rule {
  return { effect: 'allow', pattern, source: 'this conversation' }
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
