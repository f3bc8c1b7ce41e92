import type { Message } from '../base/message.ts'
import { wrapInTag } from '../base/wrap-text.ts'
import { readRule } from '../config/rule-syntax.ts'
import type { Rule } from '../policy/types.ts'
import { effectiveLines } from '../storage/effective-lines.ts'
import type {
  CompactMarker,
  NewLine,
  PermissionDecision,
  ReadPosition,
  SessionHeader,
  SessionLine,
  SessionPart,
  UndoneFile,
} from '../storage/types.ts'
import { type ConversationModel, withModelLine } from './conversation-model.ts'
import { withUsed } from './selected-tools.ts'

/** The state that the lines of a session add up to. */
export interface SessionHistory {
  /** The messages that a request is built from, from the last compact marker on. */
  readonly messages: readonly Message[]
  /** The line of each message; that of the marker for the summary. */
  readonly lines: readonly number[]
  /** The size of the conversation that the provider reported last, and the number of messages it counted. */
  readonly counted?: { tokens: number; messages: number }
  /** The rules that a person allowed for the rest of this conversation. */
  readonly grants: readonly Rule[]
  /** The archive whose summary begins the messages, and whether it could be read. */
  readonly archive?: { name: string; isThere: boolean }
  /** The versions of the files that the model saw or wrote, by resolved path. */
  readonly files: ReadonlyMap<string, string>
  /** The tools the conversation has selected, least recently used first; they outlive a compaction. */
  readonly tools: readonly string[]
  /** The model and effort chosen for the conversation. */
  readonly chosen?: ConversationModel
}

/** A session as far as it was read, and where to append. */
export interface Conversation {
  readonly id: string
  readonly header: SessionHeader
  readonly cursor: ReadPosition
  readonly history: SessionHistory
}

/** The history of an empty session. */
export const NO_HISTORY: SessionHistory = { messages: [], lines: [], grants: [], files: new Map(), tools: [] }

/**
 * Returns the conversation with the lines of a storage read added; `before` is the conversation whose cursor
 * the read started from. A part with lines that change the meaning of earlier ones must be the whole session.
 */
export function advance(
  id: string,
  part: SessionPart,
  { before, archives = NO_ARCHIVES }: { before?: Conversation | undefined; archives?: Archives } = {},
): Conversation {
  const isMore = before !== undefined && !part.whole
  const history = isMore
    ? replay(before.history, part.lines, archives)
    : replay(NO_HISTORY, effectiveLines(part.lines), archives)
  const started = isMore ? { ...part.header, cwd: before.header.cwd } : part.header
  return { id, header: withDirectory(started, part.lines), cursor: part.cursor, history }
}

/** Returns the header with the working directory that the last of these lines sets, if any does. */
export function withDirectory(header: SessionHeader, lines: readonly NewLine[]): SessionHeader {
  const line = lines.findLast((one) => one.kind === 'meta' && one.cwd !== undefined)
  return line?.kind === 'meta' && line.cwd !== undefined ? { ...header, cwd: line.cwd } : header
}

/** The contents of the available archives, by name: what the model reads in place of the archived messages. */
export type Archives = ReadonlyMap<string, string>

/** The last compact marker among the lines: the one whose archive is needed. */
export function lastMarker(lines: readonly SessionLine[]): CompactMarker | undefined {
  return lines.findLast((line) => line.kind === 'compact')
}

/** Adds lines to a history: entries are appended, a compact marker replaces messages with its archive. */
export function replay(
  before: SessionHistory,
  lines: readonly SessionLine[],
  archives: Archives = NO_ARCHIVES,
): SessionHistory {
  let { archive, tools, counted, chosen } = before
  let entries = before.messages.map((message, at) => ({ message, seq: before.lines[at] ?? 0 }))
  let grants = [...before.grants]
  const files = new Map(before.files)
  for (const line of lines) {
    const { seq } = line
    if (line.kind === 'entry') entries.push({ message: toMessage(line), seq })
    if (line.kind === 'compact') {
      archive = { name: line.archive_name, isThere: archives.has(line.archive_name) }
      const { from = Number.POSITIVE_INFINITY } = line
      const rest = entries.filter((one) => one.seq >= from)
      entries = [{ message: toArchiveMessage(line, archives), seq }, ...rest]
      counted = undefined
      files.clear() // the model no longer sees their contents
    }
    if (line.kind === 'meta') chosen = withModelLine(chosen ?? {}, line)
    if (line.kind !== 'event') continue
    if (line.event === 'tool_result')
      for (const { path, version } of line.files ?? []) files.set(path, version)
    if (line.event === 'tools_used') tools = withUsed(tools, line.tools ?? [])
    if (line.event === 'undone' && line.files?.length)
      entries.push({ message: toUndoMessage(line.files), seq })
    if (line.event === 'done' && line.context_tokens !== undefined)
      counted = { tokens: line.context_tokens, messages: entries.length }
    if (line.event === 'permission' && line.grant === 'session') grants.push(...readGrants(line))
    if (line.event === 'grants_removed') {
      const removed = new Set(line.rules)
      grants = grants.filter(({ pattern }) => !removed.has(pattern))
    }
  }
  return {
    messages: entries.map(({ message }) => message),
    lines: entries.map(({ seq }) => seq),
    grants,
    files,
    tools,
    ...(archive !== undefined && { archive }),
    ...(counted !== undefined && { counted }),
    ...(chosen !== undefined && { chosen }),
  }
}

function isRule(pattern: string): boolean {
  return readRule(pattern).ok
}

/** Reads the rules that a person allowed; an unreadable one grants nothing. Those without a call were written by hand. */
function readGrants({ call_id: callId, rules = [], project }: PermissionDecision): Rule[] {
  return rules.filter(isRule).map((rule) => toGrant(rule, callId === '' ? 'any' : project))
}

/** Turns a rule that a person allowed for the rest of a conversation into an `allow` rule. */
export function toGrant(pattern: string, projects: Rule['projects']): Rule {
  return { effect: 'allow', pattern, source: 'this conversation', ...(projects && { projects }) }
}

function toMessage({
  kind: _kind,
  seq: _seq,
  ts: _ts,
  ...message
}: SessionLine & { kind: 'entry' }): Message {
  return message
}

/** The message that takes the place of the archived ones. */
function toArchiveMessage({ archive_name: name, title }: CompactMarker, archives: Archives): Message {
  const summary = archives.get(name)
  const content =
    summary === undefined
      ? `[Earlier messages were archived as "${title}"; the archive is not available.]`
      : `[Everything before this was compacted and archived as "${name}". This is what is known of it:]\n\n${wrapInTag('summary', {}, summary)}`
  return { role: 'user', content }
}

/**
 * The message that informs the model which files an undo restored or removed. Their stored versions, not this
 * message, decide whether the model may change one.
 */
function toUndoMessage(files: readonly UndoneFile[]): Message {
  const named = (outcome: UndoneFile['outcome']) => {
    const paths = files.flatMap((file) => (file.outcome === outcome ? [JSON.stringify(file.path)] : []))
    const more = paths.length > MAX_NAMED_PATHS ? [`${paths.length - MAX_NAMED_PATHS} more`] : []
    return [...paths.slice(0, MAX_NAMED_PATHS), ...more].join(', ')
  }
  const [restored, removed] = [named('restored'), named('removed')]
  const sentences = [
    restored === '' ? '' : ` As they were before: ${restored}.`,
    removed === '' ? '' : ` Deleted again: ${removed}.`,
  ]
  const content = `[The user has taken back changes that you made to files.${sentences.join('')} Read a file before you change it.]`
  return { role: 'user', content }
}

const MAX_NAMED_PATHS = 20

const NO_ARCHIVES: Archives = new Map()
