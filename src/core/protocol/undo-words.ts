import { UndoOutcome } from './crabtalk.generated.ts'

/** The notice when there is no turn to undo. */
export const NOTHING_TO_UNDO =
  'Nothing to undo: edit and write changed no files here, or the earlier contents are no longer kept'

/** Returns `restored`, `removed` or `kept`. */
export function outcomeWord(outcome: UndoOutcome): string {
  if (outcome === UndoOutcome.RESTORED) return 'restored'
  return outcome === UndoOutcome.REMOVED ? 'removed' : 'kept'
}
