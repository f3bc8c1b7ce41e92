import { CrabError } from '../base/errors.ts'
import type { UndoneFile } from '../storage/types.ts'
import { ACQUIRE_TIMEOUT_MS, acquireWithin } from './acquire-within.ts'
import { LeasedConversation } from './leased-conversation.ts'
import type { Sessions } from './sessions.ts'

/** What became of one file. */
interface FileUndoResult extends UndoneFile {
  /** Why it was kept; else empty. */
  reason: string
}

/** Where turns are kept whose changes of files can be taken back. */
export interface UndoStore<T extends FileUndoResult = FileUndoResult> {
  /** The youngest turn of a session that is not taken back yet. */
  last(session: string): Promise<string | undefined>
  restore(turn: { session: string; run: string; dryRun: boolean }, signal: AbortSignal): AsyncIterable<T>
  /** Forgets what is done; the turn, when nothing of it is left. */
  forget(turn: { session: string; run: string }, files: readonly T[]): Promise<void>
}

/** A turn that was taken back. */
export interface UndoneTurn<T extends FileUndoResult = FileUndoResult> {
  run: string
  files: T[]
}

/**
 * Takes back the changes of files of the last turn of a session that is not taken back yet; undefined when there is none.
 * The session keeps what was done, so that the model is told with its next message.
 *
 * Whatever ends it in the middle, the next time does the rest. Throws `conflict` while a turn runs.
 */
export async function undoLastTurn<T extends FileUndoResult>(
  { place, running }: Sessions,
  at: { session: string; agent: string; dryRun: boolean; turns: UndoStore<T> },
  signal: AbortSignal,
): Promise<UndoneTurn<T> | undefined> {
  const { session, agent, dryRun, turns } = at
  if (running.conversationOf(session)) throw new CrabError('conflict', `${WHAT}: a turn runs`, { hint: HINT })
  const open = (either: AbortSignal) => LeasedConversation.open(place, { id: session, agent }, either)
  await using held = await acquireWithin(open, { what: WHAT, withinMs: ACQUIRE_TIMEOUT_MS }, signal)
  const run = await turns.last(session)
  if (run === undefined) return undefined
  const files: T[] = []
  try {
    for await (const file of turns.restore({ session, run, dryRun }, signal)) files.push(file)
  } finally {
    if (!dryRun) {
      await appendUndone(held, run, files)
      await turns.forget({ session, run }, files)
    }
  }
  return { run, files }
}

const WHAT = 'Cannot take back what the conversation did to files'
const HINT = 'wait for it to end, or stop it'

async function appendUndone(
  held: LeasedConversation,
  run: string,
  files: readonly FileUndoResult[],
): Promise<void> {
  const changed = files.filter(({ outcome }) => outcome !== 'kept')
  if (changed.length === 0) return
  const told = changed.map(({ path, outcome }) => ({ path, outcome }))
  await held.append([{ kind: 'event', event: 'undone', run_id: run, files: told }])
}
