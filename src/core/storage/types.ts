import type { Message, Usage } from '../base/message.ts'

/** Format of the session file this build writes (disk.md, "Session file"). */
export const SESSION_VERSION = 1

/** Who speaks with whom. Both parts are compared byte for byte (decision 8). */
export interface Pair {
  /** The agent's immutable id, not its name. */
  agentId: string
  sender: string
}

/** Line 1 of a session file; never changes. */
export interface SessionHeader {
  v: number
  agent: string
  agent_id: string
  /** The sender. */
  created_by: string
  /** ISO 8601. */
  created_at: string
  /** The conversation's default working directory, absolute. */
  cwd: string
  /** The session this one was copied from. */
  forked_from?: string
}

/** Something that happened in a turn and is no message. */
export type SessionEvent =
  | { event: 'tool_start'; call_id: string; name: string }
  | ({
      event: 'tool_result'
      call_id: string
      duration_ms: number
      is_error: boolean
      files?: FileVersion[]
    } & RemoteNames)
  | ({ event: 'permission' } & PermissionDecision)
  | { event: 'done'; model: string; usage: Usage | undefined; stop_reason: string }
  | { event: 'user_steered'; content: string }
  | { event: 'undone'; run_id: string; files?: UndoneFile[] }
  /** Tools of a conversation that does not show all of them were selected or used, the last one latest. */
  | { event: 'tools_used'; tools?: string[] }

/** Where a call of a tool of an MCP server went; absent for other tools. */
export interface RemoteNames {
  server?: string
  /** What that server calls the tool. */
  tool?: string
}

/** The version of a file that a tool showed to the model, or wrote for it. */
export interface FileVersion {
  /** Absolute, links resolved. */
  path: string
  version: string
}

/** What undo did to a file. */
export interface UndoneFile {
  /** Absolute, links resolved. */
  path: string
  /** `kept` files stay as they are, and are not stored. */
  outcome: 'restored' | 'removed' | 'kept'
}

/** What was decided about a tool call; written before the call is made. */
export interface PermissionDecision extends RemoteNames {
  call_id: string
  name: string
  effect: 'allow' | 'deny'
  /** A rule, the built-in defaults, a person, or that nobody could be asked. */
  by: 'rule' | 'default' | 'person' | 'nobody'
  /** The rule that decided. */
  rule?: string
  /** Where that rule is written. */
  source?: string
  reason: string
  /** A person's answer that holds longer than the call, and the rules it made. */
  grant?: 'session' | 'always'
  rules?: string[]
}

/** Titles and activations; the last of each key wins. */
export interface SessionMeta {
  title?: string
  summary?: string
  /** ISO 8601; the pair's session with the latest creation or activation is the active one. */
  activated_at?: string
}

/** A boundary: replay starts here, with the archive's summary in front. */
export interface CompactMarker {
  archive_name: string
  archived_at: string
  /** First sentence of the summary, at most 60 characters. */
  title: string
}

/** What a caller appends; storage stamps `seq` and `ts`. */
export type NewLine =
  | ({ kind: 'entry' } & Message)
  | ({ kind: 'event' } & SessionEvent)
  | ({ kind: 'compact' } & CompactMarker)
  | ({ kind: 'meta' } & SessionMeta)

/** A line as it is read back. `seq` counts from 1 (the first line after the header), `ts` is ISO 8601. */
export type SessionLine = NewLine & { seq: number; ts: string }

/** How far a session has been read: bytes of whole lines, and the `seq` of the last one. */
export interface ReadPosition {
  bytes: number
  seq: number
}

/** What was appended to a session since a cursor, or all of it. */
export interface SessionPart {
  /** True when this is the whole session: no cursor was given, or it did not fit the file. */
  whole: boolean
  header: SessionHeader
  lines: SessionLine[]
  cursor: ReadPosition
  /** Lines that could not be used, as sentences for a person. Never includes a torn last line of a live writer. */
  warnings: string[]
}

/** What this process did to a session, once it is durable. */
export type SessionChange =
  | {
      id: string
      change: 'appended'
      /** Of a session that was created with these lines. */
      header: SessionHeader | undefined
      /** Where the lines begin; right behind the header for new sessions. */
      at: ReadPosition
      lines: readonly SessionLine[]
      /** The lines as they stand in the file, one right behind the other. */
      texts: readonly string[]
      end: ReadPosition
    }
  | { id: string; change: 'copied' | 'deleted' }

/** One row of a listing; everything but the header is derived, never stored in the session. */
export interface SessionSummary {
  id: string
  agent: string
  agentId: string
  sender: string
  cwd: string
  title: string
  summary: string
  /** How the first message of the sender begins, on one line; empty before there is one. */
  preview: string
  createdAt: string
  /** Time of the last line; createdAt when there is none. */
  updatedAt: string
  /** User and assistant messages; tool results do not count. */
  messageCount: number
  /** How often it was compacted. */
  archiveCount: number
  forkedFrom: string | undefined
  /** When it was created or activated last; of a pair's sessions the one with the latest is active. */
  activeSince: string
}

/** A session among others. */
export interface SessionRow {
  summary: SessionSummary
  /** Its pair continues there. */
  isActive: boolean
}

/** What a listing asks for. */
export interface SessionFilter {
  agentId?: string
  sender?: string
  cwd?: string
}

/**
 * Where conversations live. On disk and in memory behave the same (one contract suite).
 *
 * Mutations are durable when their promise resolves. `append` is called only under the session's turn lease.
 * Failures are CrabErrors: `missing` for an unknown session, `invalid` for an id that is none, `storage` for the disk.
 */
export interface Storage {
  /** The pair's active session: the one created or activated last. */
  activeSession(pair: Pair): Promise<string | undefined>
  /** Creates a session with its first lines in one durable step; gives its id and where it ends. */
  createSession(
    header: SessionHeader,
    lines: readonly NewLine[],
  ): Promise<{ id: string; cursor: ReadPosition }>
  /**
   * Creates a session with this header and another's lines up to the one with `seq` `upto` (all for 0), as they are
   * written: times stay, and so does what this build does not know. Gives its id.
   */
  copySession(id: string, header: SessionHeader, upto: number): Promise<string>
  /** What came after `since`; the whole session without it. A cursor that does not fit the file reads it all again. */
  read(id: string, since?: ReadPosition): Promise<SessionPart>
  /**
   * Appends whole lines at `at`, dropping a torn tail behind it; gives the new end.
   *
   * Fails with `conflict`, and changes nothing, when `at` is not where the session's whole lines end.
   */
  append(id: string, at: ReadPosition, lines: readonly NewLine[]): Promise<ReadPosition>
  /** What is known of these sessions, in this order, without those that are gone. */
  summaries(ids: readonly string[]): Promise<SessionRow[]>
  /** Newest first. Absent filters match everything; present ones match byte for byte. */
  listSessions(filter: SessionFilter): Promise<SessionSummary[]>
  deleteSession(id: string): Promise<void>
}
