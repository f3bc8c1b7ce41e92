import { effectiveLines } from '../../storage/effective-lines.ts'
import type { Pair, SessionEvent, SessionLine, SessionPart, Storage } from '../../storage/types.ts'
import type { AgentEvent } from '../events.ts'
import type { Journal, JournalMessage } from './journal.ts'
import type { Journals } from './journals.ts'
import type { LiveTurns } from './live-turns.ts'
import type { TurnRun } from './run.ts'

/** The state of a conversation at the moment a client starts to follow it. */
export interface ConversationSnapshot {
  /** Undefined when the pair has no session yet. */
  session: string | undefined
  /** Empty when nothing runs. */
  runId: string
  /** The `seq` of the last event so far. */
  seq: number
  /** The `seq` of the event directly before the first one that follows. */
  resumedAfter: number
  /** The last stored line that precedes what follows. */
  upto: number
  /** Whether the last stored turn has no end; known only in the first snapshot, while nothing runs. */
  isUnfinished: boolean
  /** The size of the conversation in tokens after its last turn; known only in the first snapshot. */
  contextTokens: number | undefined
}

/** An item that a follower receives. */
export type FollowEvent =
  /** `isFollowers`: only the number of followers may have changed. */
  | { type: 'snapshot'; snapshot: ConversationSnapshot; isFollowers: boolean }
  | { type: 'message'; runId: string; message: JournalMessage }
  | { type: 'event'; seq: number; event: AgentEvent }

/** The sources of what a follower receives. */
export interface Followable {
  journals: Journals
  live: LiveTurns
  storage: Storage
}

/**
 * Follows a conversation: yields its snapshot, then everything that happens to it, until the signal aborts.
 *
 * No event after `afterSeq` is left out while the journal still has it (see
 * ConversationSnapshot.resumedAfter); with 0, the events of the running turn are replayed from the first one.
 * Throws `unavailable` for a reader that is too slow.
 */
export async function* followConversation(
  { pair, afterSeq }: { pair: Pair; afterSeq: number },
  at: Followable,
  signal: AbortSignal,
): AsyncGenerator<FollowEvent> {
  using followed = at.journals.followed(pair)
  const { journal } = followed
  const start = await findFollowStart({ journal, pair, afterSeq }, at)
  let { snapshot } = start
  let { resumedAfter } = snapshot
  yield { type: 'snapshot', snapshot, isFollowers: false }
  for await (const entry of journal.read(start.position, signal)) {
    if (entry.type === 'event') {
      resumedAfter = entry.seq
      yield entry
    } else if (entry.type === 'message') {
      if (entry.message.line === 0 || entry.message.line > snapshot.upto) yield entry
    } else {
      snapshot = await refreshSnapshot({ journal, pair, before: snapshot, resumedAfter }, at)
      yield { type: 'snapshot', snapshot, isFollowers: entry.isFollowers ?? false }
    }
  }
}

interface FollowStart {
  /** The position in the journal. */
  position: number
  snapshot: ConversationSnapshot
}

async function findFollowStart(
  { journal, pair, afterSeq }: { journal: Journal; pair: Pair; afterSeq: number },
  at: Followable,
): Promise<FollowStart> {
  for (let attempt = 1; ; attempt++) {
    const { end, seq } = journal
    const run = findRunning(pair, at.live)
    const behind = afterSeq > 0 ? journal.behind(afterSeq) : undefined
    const start = run && journal.findStart(run.id)
    const session = await at.storage.activeSession(pair)
    const snapshot = { ...NOTHING_READ, session, runId: run?.id ?? '', seq, resumedAfter: seq }
    if (behind !== undefined) return { position: behind, snapshot: { ...snapshot, resumedAfter: afterSeq } }
    if (start && run.start) {
      const known = { resumedAfter: start.seq - 1, upto: run.start.line }
      return { position: start.position, snapshot: { ...snapshot, ...known } }
    }
    const { cursor, lines } = session === undefined ? NO_PART : await at.storage.read(session)
    // Otherwise something happened during the read, and may or may not be stored already.
    const isSure = journal.end === end
    const isUnfinished = isSure && run === undefined && endsMidTurn(lines)
    if (isSure || attempt === MAX_READS)
      return {
        position: end,
        snapshot: { ...snapshot, upto: cursor.seq, isUnfinished, contextTokens: findSize(lines) },
      }
  }
}

/**
 * Takes a new snapshot after a change; what was already delivered still counts, unless the pair continues in
 * another session.
 */
async function refreshSnapshot(
  {
    journal,
    pair,
    before,
    resumedAfter,
  }: { journal: Journal; pair: Pair; before: ConversationSnapshot; resumedAfter: number },
  { storage, live }: Followable,
): Promise<ConversationSnapshot> {
  const runId = findRunning(pair, live)?.id ?? ''
  const session = await storage.activeSession(pair)
  const { seq } = journal
  const isSame = session === before.session
  const upto = isSame || session === undefined ? before.upto : (await storage.read(session)).cursor.seq
  return { ...NOTHING_READ, session, runId, seq, resumedAfter, upto }
}

/** The part of a snapshot that only a read of the session tells. */
const NOTHING_READ = { upto: 0, isUnfinished: false, contextTokens: undefined }

/**
 * The most attempts to read a consistent snapshot. A turn whose start is no longer in the journal may emit
 * events without a pause; after the last attempt, lines that it stores in the meantime may be delivered a
 * second time.
 */
const MAX_READS = 5

const NO_PART: Pick<SessionPart, 'cursor' | 'lines'> = { cursor: { bytes: 0, seq: 0 }, lines: [] }

/**
 * Whether the last turn of a session was never ended: its last message waits for an answer, and only lines of
 * a running turn follow it.
 */
function endsMidTurn(lines: readonly SessionLine[]): boolean {
  const at = lines.findLastIndex(({ kind }) => kind === 'entry')
  const last = lines[at]
  if (last?.kind !== 'entry') return false
  const isAnswer = last.role === 'assistant' && (last.tool_calls ?? []).length === 0
  return !isAnswer && lines.slice(at + 1).every(isWithinTurn)
}

/** Returns the size that the provider counted last, unless the conversation was compacted or cut since. */
function findSize(lines: readonly SessionLine[]): number | undefined {
  const last = effectiveLines(lines).findLast(
    (line) =>
      line.kind === 'compact' ||
      (line.kind === 'event' && line.event === 'done' && line.context_tokens !== undefined), // a guest's has none
  )
  return last?.kind === 'event' && last.event === 'done' ? last.context_tokens : undefined
}

function isWithinTurn(line: SessionLine): boolean {
  return line.kind === 'meta' || (line.kind === 'event' && EVENTS_WITHIN_TURN.has(line.event))
}

const EVENTS_WITHIN_TURN: ReadonlySet<string> = new Set<SessionEvent['event']>([
  'tool_start',
  'tool_result',
  'permission',
  'user_steered',
  'tools_used',
])

function findRunning({ agentId, sender }: Pair, live: LiveTurns): TurnRun | undefined {
  return live
    .running()
    .find((run) => run.start?.primary.id === agentId && run.sender === sender && !run.ephemeral)
}
