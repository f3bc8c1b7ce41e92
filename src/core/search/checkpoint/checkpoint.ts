import type { Log } from '../../base/log.ts'
import type { PartToSave, SavedPart } from './types.ts'

/**
 * Saves a generation: writes the parts that have no file yet, then switches to them with the manifest's rename, then
 * removes files of older generations. Gives the parts' file names in their order.
 *
 * Durable when the promise resolves; until then the generation before is what is loaded. Only the holder of the lease
 * `index` may call it. Fails with `storage`.
 */
export async function saveCheckpoint(
  folder: string,
  parts: readonly PartToSave[],
  signal: AbortSignal,
): Promise<string[]> {
  void folder
  void parts
  signal.throwIfAborted()
  throw new Error('not yet')
}

/**
 * The newest generation, its parts in the order in which they were saved; undefined when there is none, or any byte of
 * it is not what was written: that is told to the log, and the index is built anew. Never fails for what is in files.
 */
export async function loadCheckpoint(folder: string, log: Log): Promise<SavedPart[] | undefined> {
  void folder
  void log
  return undefined
}
