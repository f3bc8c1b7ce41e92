import { CrabError } from '../base/errors.ts'
import type { UndoneFile } from '../storage/types.ts'
import { ACQUIRE_TIMEOUT_MS, acquireWithin } from './acquire-within.ts'
import { LeasedConversation } from './leased-conversation.ts'
import type { Sessions } from './sessions.ts'

/** The result of undoing the changes of one file. */
export interface FileUndoResult extends UndoneFile {
  /** The reason the file was left as it is; otherwise empty. */
  reason: string
}

/** The store of turns whose changes of files can be undone (ADR 0102). */
export interface UndoStore<T extends FileUndoResult = FileUndoResult> {
  /** Returns the latest turn of a session that is not undone yet. */
  last(session: string): Promise<string | undefined>
  restore(turn: { session: string; run: string; dryRun: boolean }, signal: AbortSignal): AsyncIterable<T>
  /** Deletes the backups of restored files, and the turn's folder when none is left. */
  forget(turn: { session: string; run: string }, files: readonly T[]): Promise<void>
}

/** A turn whose changes were undone. */
export interface UndoneTurn<T extends FileUndoResult = FileUndoResult> {
  run: string
  files: T[]
}

/**
 * Undoes the changes of files of the last turn of a session that is not undone yet; undefined when there is
 * none. The session records the outcome, so that the model learns of it with its next message.
 *
 * If it is interrupted, the next call undoes the rest. Throws `conflict` while a turn runs.
 */
export async function undoLastTurn<T extends FileUndoResult>(
  { stores, running }: Sessions,
  at: { session: string; agent: string; dryRun: boolean; turns: UndoStore<T> },
  signal: AbortSignal,
): Promise<UndoneTurn<T> | undefined> {
  const { session, agent, dryRun, turns } = at
  if (running.findConversation(session))
    throw new CrabError('conflict', `${WHAT}: a turn is running`, { hint: HINT })
  const open = (either: AbortSignal) => LeasedConversation.open(stores, { id: session, agent }, either)
  await using conversation = await acquireWithin(open, { what: WHAT, withinMs: ACQUIRE_TIMEOUT_MS }, signal)
  const run = await turns.last(session)
  if (run === undefined) return undefined
  const files: T[] = []
  try {
    for await (const file of turns.restore({ session, run, dryRun }, signal)) files.push(file)
  } finally {
    if (!dryRun) {
      await appendUndone(conversation, run, files)
      await turns.forget({ session, run }, files)
    }
  }
  return { run, files }
}

const WHAT = "Cannot undo the conversation's changes to files"
const HINT = 'wait for it to end, or stop it'

async function appendUndone(
  conversation: LeasedConversation,
  run: string,
  files: readonly FileUndoResult[],
): Promise<void> {
  const changed = files.filter(({ outcome }) => outcome !== 'kept')
  if (changed.length === 0) return
  const outcomes = changed.map(({ path, outcome }) => ({ path, outcome }))
  await conversation.append([{ kind: 'event', event: 'undone', run_id: run, files: outcomes }])
}
