import { CrabError } from '../base/errors.ts'
import { ulidTime } from '../base/ids.ts'
import type { Attachment, Message } from '../base/message.ts'
import { effectiveLines } from '../storage/effective-lines.ts'
import type { NewLine, SessionLine } from '../storage/types.ts'
import { ACQUIRE_TIMEOUT_MS, acquireWithin } from './acquire-within.ts'
import { LeasedConversation } from './leased-conversation.ts'
import type { Sessions } from './sessions.ts'
import type { FileUndoResult } from './undo.ts'

/** The changes of files of several turns of a session, which are undone as one (ADR 0189). */
export interface RunUndoStore<T extends FileUndoResult = FileUndoResult> {
  /** Returns the ids of the turns with backups, oldest first. */
  runs(session: string): Promise<string[]>
  /** Returns the paths of the files that these turns changed, without duplicates. */
  paths(session: string, runs: readonly string[]): Promise<string[]>
  /** Restores each file to its content before the first of these turns. */
  restoreRuns(
    turns: { session: string; runs: readonly string[]; dryRun: boolean },
    signal: AbortSignal,
  ): AsyncIterable<T>
  /** Deletes the backup of a turn for each of these files, and the turn's folder when none is left. */
  forget(turn: { session: string; run: string }, files: readonly T[]): Promise<void>
}

/** The session to rewind, and how. */
export interface RewindPlan<T extends FileUndoResult> {
  session: string
  /** The current name of its agent. */
  agent: string
  /** The line of the user's message to go back to. */
  to: number
  files: boolean
  keepMessages: boolean
  dryRun: boolean
  undo: RunUndoStore<T>
}

/** The outcome of a rewind. */
export interface Rewound<T extends FileUndoResult> {
  files: T[]
  /** The number of user and assistant messages that were dropped. */
  messages: number
  /** The message that the conversation went back to, as it was typed. */
  content: string
  /** The files that were attached to it. */
  attachments: readonly Attachment[]
}

/** A message of the user to which a conversation can go back. */
export interface RewindTarget {
  seq: number
  ts: string
  content: string
  /** The number of files that the turns from it on changed. */
  files: number
}

type EntryLine = SessionLine & { kind: 'entry' }

/**
 * Goes back to before a message of the user: restores the files that the turns from it on changed, drops the
 * messages from it on, or both. Nothing is deleted; the session records both.
 *
 * Throws `conflict` while a turn runs, `invalid` when the model does not see such a message.
 */
export async function rewindSession<T extends FileUndoResult>(
  sessions: Pick<Sessions, 'stores' | 'running'>,
  plan: RewindPlan<T>,
  signal: AbortSignal,
): Promise<Rewound<T>> {
  const { session, agent, to, dryRun, undo } = plan
  await using conversation = await openIdle(sessions, { id: session, agent, what: WHAT }, signal)
  const lines = effectiveLines((await conversation.readAll()).lines)
  const target = lines.find((line) => line.seq === to)
  if (target?.kind !== 'entry' || target.role !== 'user') throw noSuchMessage(to)
  const runs = plan.files ? runsFrom(lines, to, await undo.runs(session)) : []
  const files: T[] = []
  try {
    for await (const file of undo.restoreRuns({ session, runs, dryRun }, signal)) files.push(file)
  } finally {
    if (!dryRun && files.length > 0) await recordUndone(conversation, { session, runs, files, undo })
  }
  const dropped = plan.keepMessages ? [] : lines.filter((line) => isSpoken(line) && line.seq >= to)
  if (!dryRun && dropped.length > 0) await conversation.append([toRewoundLine(lines, to, dropped.length)])
  const { content, typed = content, attachments = [] } = target
  return { files, messages: dropped.length, content: typed, attachments }
}

/** Returns the user's messages that the model sees, newest first. */
export async function listRewindTargets(
  lines: readonly SessionLine[],
  { session, undo }: { session: string; undo: RunUndoStore },
): Promise<RewindTarget[]> {
  const seen = effectiveLines(lines)
  const all = await undo.runs(session)
  const messages = seen.filter((line): line is EntryLine => line.kind === 'entry' && line.role === 'user')
  const changed = new Map<string, readonly string[]>()
  for (const run of all) changed.set(run, await undo.paths(session, [run]))
  return messages.toReversed().map(({ seq, ts, content, typed = content }) => {
    const paths = new Set(runsFrom(seen, seq, all).flatMap((run) => changed.get(run) ?? []))
    return { seq, ts, content: typed, files: paths.size }
  })
}

/**
 * Undoes the last compaction of a session. Throws `invalid` when there is none, or when the user has sent a
 * message since; `conflict` while a turn runs.
 */
export async function undoCompaction(
  sessions: Pick<Sessions, 'stores' | 'running'>,
  { session, agent }: { session: string; agent: string },
  signal: AbortSignal,
): Promise<void> {
  const what = 'Cannot undo the compaction'
  await using conversation = await openIdle(sessions, { id: session, agent, what }, signal)
  const lines = effectiveLines((await conversation.readAll()).lines)
  const marker = lines.findLast((line) => line.kind === 'compact')
  if (!marker) throw new CrabError('invalid', `${what}: the conversation is not compacted`)
  const isLater = lines.some((line) => isUser(line) && line.seq > marker.seq)
  if (isLater) {
    throw new CrabError('invalid', `${what}: you have sent a message since`, {
      hint: 'nothing is lost: Ctrl+O in the chat and crabtalk conversation show have the messages',
    })
  }
  const earlier = lines.flatMap((line) =>
    line.kind === 'meta' && line.seq < marker.seq && line.summary !== undefined ? [line.summary] : [],
  )
  await conversation.append([
    { kind: 'event', event: 'compaction_undone', archive_name: marker.archive_name },
    { kind: 'meta', summary: earlier.at(-1) ?? '' },
  ])
}

const WHAT = 'Cannot rewind the conversation'

/** Takes the lease of a session on which no turn runs. */
async function openIdle(
  { stores, running }: Pick<Sessions, 'stores' | 'running'>,
  { id, agent, what }: { id: string; agent: string; what: string },
  signal: AbortSignal,
): Promise<LeasedConversation> {
  if (running.findConversation(id)) {
    throw new CrabError('conflict', `${what}: a turn is running`, { hint: 'wait for it to end, or stop it' })
  }
  const open = (either: AbortSignal) => LeasedConversation.open(stores, { id, agent }, either)
  return await acquireWithin(open, { what, withinMs: ACQUIRE_TIMEOUT_MS }, signal)
}

/**
 * Returns the turns from a message on, by the times in their ids: a turn gets its id before its message is
 * stored, and after the message of the turn before. A steering message starts no turn.
 */
function runsFrom(lines: readonly SessionLine[], to: number, runs: readonly string[]): string[] {
  const isSteer = (at: number) => {
    const before = lines[at - 1]
    return before?.kind === 'event' && before.event === 'user_steered'
  }
  const at = lines.findIndex((line) => line.seq === to)
  if (isSteer(at)) {
    const message = lines.at(at)!
    return runs.filter((run) => ulidTime(run) > message.ts)
  }
  const previous = lines.findLast((line, index) => index < at && isUser(line) && !isSteer(index))
  return runs.filter((run) => ulidTime(run) > (previous?.ts ?? ''))
}

async function recordUndone<T extends FileUndoResult>(
  conversation: LeasedConversation,
  at: { session: string; runs: readonly string[]; files: readonly T[]; undo: RunUndoStore<T> },
): Promise<void> {
  const { session, runs, files, undo } = at
  const changed = files.filter(({ outcome }) => outcome !== 'kept')
  const outcomes = changed.map(({ path, outcome }) => ({ path, outcome }))
  const [run = ''] = runs
  if (outcomes.length > 0)
    await conversation.append([{ kind: 'event', event: 'undone', run_id: run, files: outcomes }])
  for (const each of runs) await undo.forget({ session, run: each }, changed)
}

function toRewoundLine(lines: readonly SessionLine[], to: number, messages: number): NewLine {
  const isFirst = !lines.some((line) => isUser(line) && line.seq < to)
  return { kind: 'event', event: 'rewound', to, messages, ...(isFirst && { first: true }) }
}

function isUser(line: SessionLine): boolean {
  return line.kind === 'entry' && line.role === 'user'
}

/** Whether a line is a message that listings count. */
function isSpoken(line: SessionLine): line is EntryLine & Message {
  return line.kind === 'entry' && line.role !== 'tool'
}

function noSuchMessage(to: number): CrabError {
  return new CrabError('invalid', `${WHAT}: line ${to} is not a message of yours that the model sees`, {
    hint: 'crabtalk conversation show --json has the numbers of the messages as "seq"',
  })
}
