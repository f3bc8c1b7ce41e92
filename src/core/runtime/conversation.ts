import type { Message } from '../base/message.ts'
import { wrapInTag } from '../base/wrap-text.ts'
import { readRule } from '../config/rule-syntax.ts'
import type { Rule } from '../policy/types.ts'
import type {
  CompactMarker,
  ReadPosition,
  SessionHeader,
  SessionLine,
  SessionPart,
  UndoneFile,
} from '../storage/types.ts'
import { withUsed } from './selected-tools.ts'

/** What the lines of a session come to. */
export interface SessionHistory {
  /** What a request is built from, from the last compact marker on. */
  readonly messages: readonly Message[]
  /** What a person allowed for the rest of this conversation. */
  readonly grants: readonly Rule[]
  /** The archive whose summary the messages begin with, and whether it could be read. */
  readonly archive?: { name: string; isThere: boolean }
  /** Versions of the files the model saw or wrote, by resolved path. */
  readonly files: ReadonlyMap<string, string>
  /** The tools it has selected, longest unused first; they outlive a compaction. */
  readonly tools: readonly string[]
}

/** A session as far as it was read, and where to append. */
export interface Conversation {
  readonly id: string
  readonly header: SessionHeader
  readonly cursor: ReadPosition
  readonly history: SessionHistory
}

export const NO_HISTORY: SessionHistory = { messages: [], grants: [], files: new Map(), tools: [] }

/** A conversation with what a storage read brought; `before` is what the read was asked to start from. */
export function advance(
  id: string,
  part: SessionPart,
  { before, archives = NO_ARCHIVES }: { before?: Conversation | undefined; archives?: Archives } = {},
): Conversation {
  const history = before && !part.whole ? before.history : NO_HISTORY
  return { id, header: part.header, cursor: part.cursor, history: replay(history, part.lines, archives) }
}

/** Archives by name, those that are there: what the model reads in place of the messages they stand for. */
export type Archives = ReadonlyMap<string, string>

/** The last compact marker among lines: the one whose archive is needed. */
export function lastMarker(lines: readonly SessionLine[]): CompactMarker | undefined {
  return lines.findLast((line) => line.kind === 'compact')
}

/** A history with further lines: entries are appended, a compact marker starts the messages anew with its archive. */
export function replay(
  before: SessionHistory,
  lines: readonly SessionLine[],
  archives: Archives = NO_ARCHIVES,
): SessionHistory {
  let { archive, tools } = before
  let messages = [...before.messages]
  const grants = [...before.grants]
  const files = new Map(before.files)
  for (const line of lines) {
    if (line.kind === 'entry') messages.push(toMessage(line))
    if (line.kind === 'compact') {
      archive = { name: line.archive_name, isThere: archives.has(line.archive_name) }
      messages = [toArchiveMessage(line, archives)]
      files.clear() // what was in them is no longer before the model
    }
    if (line.kind !== 'event') continue
    if (line.event === 'tool_result')
      for (const { path, version } of line.files ?? []) files.set(path, version)
    if (line.event === 'tools_used') tools = withUsed(tools, line.tools ?? [])
    if (line.event === 'undone' && line.files?.length) messages.push(toUndoMessage(line.files))
    if (line.event === 'permission' && line.grant === 'session')
      grants.push(...(line.rules ?? []).filter(isRule).map(toGrant)) // what cannot be read grants nothing
  }
  return { messages, grants, files, tools, ...(archive !== undefined && { archive }) }
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

/** What stands in place of the archived messages. */
function toArchiveMessage({ archive_name: name, title }: CompactMarker, archives: Archives): Message {
  const summary = archives.get(name)
  const content =
    summary === undefined
      ? `[Earlier messages were archived as "${title}"; the archive is not available.]`
      : `[Everything before this was compacted and archived as "${name}". This is what is known of it:]\n\n${wrapInTag('summary', {}, summary)}`
  return { role: 'user', content }
}

/** What the model is told of files that are not as it left them; whether it may change one is for their versions to say. */
function toUndoMessage(files: readonly UndoneFile[]): Message {
  const named = (outcome: UndoneFile['outcome']) => {
    const paths = files.flatMap((file) => (file.outcome === outcome ? [JSON.stringify(file.path)] : []))
    const more = paths.length > MAX_TOLD ? [`${paths.length - MAX_TOLD} more`] : []
    return [...paths.slice(0, MAX_TOLD), ...more].join(', ')
  }
  const [restored, removed] = [named('restored'), named('removed')]
  const told = [
    restored === '' ? '' : ` As they were before: ${restored}.`,
    removed === '' ? '' : ` Deleted again: ${removed}.`,
  ]
  const content = `[The user has taken back changes that you made to files.${told.join('')} Read a file before you change it.]`
  return { role: 'user', content }
}

const MAX_TOLD = 20

const NO_ARCHIVES: Archives = new Map()
