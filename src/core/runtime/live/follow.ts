import type { Pair, Storage } from '../../storage/types.ts'
import type { AgentEvent } from '../events.ts'
import type { Journal, SaidMessage } from './journal.ts'
import type { Journals } from './journals.ts'
import type { LiveTurns } from './live-turns.ts'
import type { Run } from './run.ts'

/** A conversation as it stands, for somebody who begins to follow it. */
export interface Standing {
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
export type Followed =
  | { type: 'standing'; standing: Standing }
  | { type: 'message'; runId: string; message: SaidMessage }
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
): AsyncGenerator<Followed> {
  using followed = at.journals.followed(pair)
  const { journal } = followed
  const begin = await findBeginning({ journal, pair, afterSeq }, at)
  let standing = begin.standing
  yield { type: 'standing', standing }
  for await (const told of journal.read(begin.position, signal)) {
    if (told.type === 'event') yield told
    else if (told.type === 'message') {
      if (told.message.line === 0 || told.message.line > standing.upto) yield told
    } else {
      standing = await standAnew({ journal, pair, before: standing }, at)
      yield { type: 'standing', standing }
    }
  }
}

interface Beginning {
  /** In the journal. */
  position: number
  standing: Standing
}

async function findBeginning(
  { journal, pair, afterSeq }: { journal: Journal; pair: Pair; afterSeq: number },
  at: Followable,
): Promise<Beginning> {
  for (;;) {
    const { end, seq } = journal
    const run = runningOf(pair, at.live)
    const session = await at.storage.activeSession(pair)
    const stored = session === undefined ? 0 : (await at.storage.read(session)).cursor.seq
    if (journal.end !== end) continue // something happened meanwhile, which may be stored already or not
    const runId = run?.id ?? ''
    const behind = afterSeq > 0 ? journal.behind(afterSeq) : undefined
    const standing = { session, runId, seq, resumedAfter: seq, upto: stored }
    if (behind !== undefined)
      return { position: behind, standing: { ...standing, resumedAfter: afterSeq, upto: 0 } }
    const start = run && journal.startOf(run.id)
    if (!start || !run.start) return { position: end, standing }
    const resumedAfter = start.seq - 1
    return { position: start.position, standing: { ...standing, resumedAfter, upto: run.start.line } }
  }
}

/** After something changed: what was told so far stays as it is, unless the pair continues in another session. */
async function standAnew(
  { journal, pair, before }: { journal: Journal; pair: Pair; before: Standing },
  { storage, live }: Followable,
): Promise<Standing> {
  const runId = runningOf(pair, live)?.id ?? ''
  const session = await storage.activeSession(pair)
  const { seq } = journal
  const isSame = session === before.session
  const upto = isSame || session === undefined ? before.upto : (await storage.read(session)).cursor.seq
  return { session, runId, seq, resumedAfter: seq, upto }
}

function runningOf({ agentId, sender }: Pair, live: LiveTurns): Run | undefined {
  return live.running().find((run) => run.start?.primary.id === agentId && run.sender === sender)
}
