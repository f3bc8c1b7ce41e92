import type { Message, Usage } from '../base/message.ts'
import type { ProjectServerFile } from '../config/project-server-file.ts'

/** The format version of session files that this build writes (ADR 0031). */
export const SESSION_VERSION = 1

/** The identity of a conversation: an agent and a sender. Both are compared byte for byte. */
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

/** Something that happened in a turn and is not a message. */
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
  | {
      event: 'done'
      model: string
      usage: Usage | undefined
      stop_reason: string
      /** The size of the conversation after the last model call in tokens, if the provider reported it. */
      context_tokens?: number
    }
  | { event: 'user_steered'; content: string }
  | { event: 'undone'; run_id: string; files?: UndoneFile[] }
  /** Rules that a person had allowed in the conversation, and has taken back. */
  | { event: 'grants_removed'; rules?: string[] }
  /**
   * The conversation went back to before the line `to`: the model no longer sees the messages from there on.
   * `messages` counts the user and assistant messages among them; `first` is set when no message is left.
   */
  | { event: 'rewound'; to: number; messages: number; first?: boolean }
  /** The last compaction was undone: the model sees the messages again that it had replaced. */
  | { event: 'compaction_undone'; archive_name: string }
  /**
   * Tools that were selected or used in a conversation that does not show all of its tools, the most recent
   * one last.
   */
  | { event: 'tools_used'; tools?: string[] }

/** The MCP server and tool that a call was routed to; absent for other tools. */
export interface RemoteNames {
  server?: string
  /** The server's own name of the tool. */
  tool?: string
}

/** The version of a file that a tool showed to the model, or wrote for it. */
export interface FileVersion {
  /** Absolute, links resolved. */
  path: string
  version: string
}

/** The outcome of undo for a file. */
export interface UndoneFile {
  /** Absolute, links resolved. */
  path: string
  /** `kept` files were left unchanged; such outcomes are not stored. */
  outcome: 'restored' | 'removed' | 'kept'
}

/** The decision about a tool call; written before the call is made. */
export interface PermissionDecision extends RemoteNames {
  call_id: string
  name: string
  effect: 'allow' | 'deny'
  /**
   * The source of the decision: a rule, the built-in defaults, a person, or none when no person could be
   * asked.
   */
  by: 'rule' | 'default' | 'person' | 'nobody'
  /** The rule that decided. */
  rule?: string
  /** The location of that rule. */
  source?: string
  reason: string
  /** The scope of a person's answer when it applies to later calls too, and the rules it created. */
  grant?: 'session' | 'always'
  rules?: string[]
  /** The project's file that declares the server, if one does: the rules allow tools of that file only. */
  project?: ProjectServerFile
  /** The arguments of a call that a person has changed, as JSON text. */
  arguments?: string
}

/** Titles and activations; the last value of each key wins. */
export interface SessionMeta {
  title?: string
  summary?: string
  /** The working directory from now on, in the place of the header's; absolute. */
  cwd?: string
  /** The model and the reasoning effort chosen for the conversation; empty: those of its agent. */
  model?: string
  effort?: string
  /** ISO 8601; the pair's session with the latest creation or activation is the active one. */
  activated_at?: string
}

/** A compaction boundary: replay starts here, with the archive's summary in front. */
export interface CompactMarker {
  archive_name: string
  archived_at: string
  /** The first sentence of the summary, at most 60 characters. */
  title: string
  /** The line of the first message that stays behind the summary; absent: none stays. */
  from?: number
}

/** A line to append; storage stamps `seq` and `ts`. */
export type NewLine =
  | ({ kind: 'entry' } & Message)
  | ({ kind: 'event' } & SessionEvent)
  | ({ kind: 'compact' } & CompactMarker)
  | ({ kind: 'meta' } & SessionMeta)

/** A line as it is read back. `seq` counts from 1 (the first line after the header), `ts` is ISO 8601. */
export type SessionLine = NewLine & { seq: number; ts: string }

/** The position up to which a session was read: the bytes of complete lines, and the `seq` of the last one. */
export interface ReadPosition {
  bytes: number
  seq: number
}

/** The lines appended to a session since a cursor, or the whole session. */
export interface SessionPart {
  /** Whether this is the whole session: no cursor was passed, or it did not fit the file. */
  whole: boolean
  header: SessionHeader
  lines: SessionLine[]
  cursor: ReadPosition
  /** The unusable lines, as sentences for a person. Never includes a torn last line of a live writer. */
  warnings: string[]
}

/** A durable change that this process made to a session. */
export type SessionChange =
  | {
      id: string
      change: 'appended'
      /** The header of a session that was created with these lines; otherwise undefined. */
      header: SessionHeader | undefined
      /** The position where the lines begin; directly after the header for new sessions. */
      at: ReadPosition
      lines: readonly SessionLine[]
      /** The consecutive lines as they are in the file. */
      texts: readonly string[]
      end: ReadPosition
    }
  | { id: string; change: 'copied' | 'deleted' }

/** One row of a listing; everything but the header is derived and never stored in the session. */
export interface SessionSummary {
  id: string
  agent: string
  agentId: string
  sender: string
  cwd: string
  title: string
  summary: string
  /** The model and the reasoning effort chosen for the conversation; empty: those of its agent. */
  model: string
  effort: string
  /** The beginning of the sender's first message, on one line; empty before there is one. */
  preview: string
  createdAt: string
  /** The time of the last line; createdAt when there are no lines. */
  updatedAt: string
  /** User and assistant messages; tool results, and messages dropped by a rewind, do not count. */
  messageCount: number
  /** The number of compactions. */
  archiveCount: number
  forkedFrom: string | undefined
  /** The time of its last creation or activation. The pair's session with the latest time is active. */
  activeSince: string
}

/** A session, and whether it is the active one of its pair. */
export interface SessionRow {
  summary: SessionSummary
  /** Whether the pair's conversation continues in this session. */
  isActive: boolean
}

/** The filters of a listing. */
export interface SessionFilter {
  agentId?: string
  sender?: string
  cwd?: string
}

/**
 * Stores conversations. The implementations on disk and in memory behave the same and pass one contract
 * suite.
 *
 * Mutations are durable when their promise resolves. `append` is called only under the session's turn lease.
 * Throws CrabErrors: `missing` for an unknown session, `invalid` for an invalid id, `storage` for the disk.
 */
export interface Storage {
  /** Returns the pair's active session: the one created or activated last. */
  activeSession(pair: Pair): Promise<string | undefined>
  /** Creates a session with its first lines in one durable step; returns its id and its end. */
  createSession(
    header: SessionHeader,
    lines: readonly NewLine[],
  ): Promise<{ id: string; cursor: ReadPosition }>
  /**
   * Creates a session with this header and the raw lines of another one up to the line with `seq` `upto`
   * (0: none, Infinity: all). Timestamps and unknown keys are preserved. Returns the new id.
   */
  copySession(id: string, header: SessionHeader, upto: number): Promise<string>
  /** Reads the lines after `since`, or the whole session when it is absent or does not fit the file. */
  read(id: string, since?: ReadPosition): Promise<SessionPart>
  /**
   * Appends lines at `at`, truncating a torn tail; returns the new end.
   *
   * Throws `conflict`, and changes nothing, when `at` is not the end of the session's complete lines.
   */
  append(id: string, at: ReadPosition, lines: readonly NewLine[]): Promise<ReadPosition>
  /** Returns the rows of these sessions in this order; leaves out those that do not exist. */
  summaries(ids: readonly string[]): Promise<SessionRow[]>
  /**
   * Returns the matching sessions, newest first. Absent filters match everything; the others match byte for
   * byte.
   */
  listSessions(filter: SessionFilter): Promise<SessionSummary[]>
  deleteSession(id: string): Promise<void>
}
