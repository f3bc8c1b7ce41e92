import type { Pair, Storage } from '../../storage/types.ts'
import type { AgentEvent } from '../events.ts'
import type { Journal, JournalMessage } from './journal.ts'
import type { Journals } from './journals.ts'
import type { LiveTurns } from './live-turns.ts'
import type { TurnRun } from './run.ts'

/** A conversation as it stands, for somebody who begins to follow it. */
export interface ConversationSnapshot {
  /** Undefined: the pair has none yet. */
  session: string | undefined
  /** Empty: nothing runs. */
  runId: string
  /** Of the last event so far. */
  seq: number
  /** What follows begins right behind this event. */
  resumedAfter: number
  /** The last stored line that comes before what follows. */
  upto: number
}

/** What a follower learns. */
export type FollowEvent =
  | { type: 'standing'; standing: ConversationSnapshot }
  | { type: 'message'; runId: string; message: JournalMessage }
  | { type: 'event'; seq: number; event: AgentEvent }

export interface Followable {
  journals: Journals
  live: LiveTurns
  storage: Storage
}

/**
 * Follows a conversation: how it stands, then everything that happens to it, until the signal aborts.
 *
 * Behind `afterSeq` nothing is left out while it is kept (see Standing.resumedAfter); with 0 the events of the running
 * turn come from its first one. Throws `unavailable` for a reader that is too slow.
 */
export async function* followConversation(
  { pair, afterSeq }: { pair: Pair; afterSeq: number },
  at: Followable,
  signal: AbortSignal,
): AsyncGenerator<FollowEvent> {
  using followed = at.journals.followed(pair)
  const { journal } = followed
  const begin = await findFollowStart({ journal, pair, afterSeq }, at)
  let standing = begin.standing
  let { resumedAfter } = standing
  yield { type: 'standing', standing }
  for await (const told of journal.read(begin.position, signal)) {
    if (told.type === 'event') {
      resumedAfter = told.seq
      yield told
    } else if (told.type === 'message') {
      if (told.message.line === 0 || told.message.line > standing.upto) yield told
    } else {
      standing = await refreshSnapshot({ journal, pair, before: standing, resumedAfter }, at)
      yield { type: 'standing', standing }
    }
  }
}

interface FollowStart {
  /** In the journal. */
  position: number
  standing: ConversationSnapshot
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
    const standing = { session, runId: run?.id ?? '', seq, resumedAfter: seq, upto: 0 }
    if (behind !== undefined) return { position: behind, standing: { ...standing, resumedAfter: afterSeq } }
    if (start && run.start) {
      const known = { resumedAfter: start.seq - 1, upto: run.start.line }
      return { position: start.position, standing: { ...standing, ...known } }
    }
    const upto = session === undefined ? 0 : (await at.storage.read(session)).cursor.seq
    const isSure = journal.end === end // else something happened meanwhile, which may be stored already or not
    if (isSure || attempt === MOST_READS) return { position: end, standing: { ...standing, upto } }
  }
}

/** After something changed: what was told so far stays as it is, unless the pair continues in another session. */
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
  return { session, runId, seq, resumedAfter, upto }
}

/** A turn whose start is not kept any more may speak without a pause; then what it stores meanwhile may be told as well. */
const MOST_READS = 5

function findRunning({ agentId, sender }: Pair, live: LiveTurns): TurnRun | undefined {
  return live
    .running()
    .find((run) => run.start?.primary.id === agentId && run.sender === sender && !run.ephemeral)
}
