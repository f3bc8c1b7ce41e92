import { UndoOutcome } from './crabtalk.generated.ts'

/** The notice when there is no turn to undo. */
export const NOTHING_TO_UNDO =
  'Nothing to take back: edit and write changed no file here, or what the files were is not kept any more'

/** Returns `restored`, `removed` or `kept`. */
export function outcomeWord(outcome: UndoOutcome): string {
  if (outcome === UndoOutcome.RESTORED) return 'restored'
  return outcome === UndoOutcome.REMOVED ? 'removed' : 'kept'
}
