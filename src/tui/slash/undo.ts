import { pluralize } from '../../core/base/format.ts'
import { ulidTime } from '../../core/base/ids.ts'
import { relativeTime } from '../../core/base/relative-time.ts'
import type { UndoneFile } from '../../core/protocol/crabtalk.generated.ts'
import { request } from '../../core/protocol/dispatch.ts'
import { NOTHING_TO_UNDO, outcomeWord } from '../../core/protocol/undo-words.ts'
import { printNotice, printRows } from './print.ts'
import type { SlashContext } from './types.ts'

/** `/undo`: reverts the file changes of the last turn; `/undo dry-run` only lists them. */
export async function slashUndo(args: string, context: SlashContext, signal: AbortSignal): Promise<void> {
  const dryRun = args === DRY_RUN
  if (args !== '' && !dryRun)
    return printNotice(context, 'warning', `/undo reverts the last turn; /undo ${DRY_RUN} only shows how`)
  const { agent, sender } = context.state()
  const { runId, files } = await request(context.dispatch, 'undo', { agent, sender, dryRun }, signal)
  if (runId === '') return printNotice(context, 'info', NOTHING_TO_UNDO)
  const when = relativeTime(ulidTime(runId), context.ports.now())
  const title = dryRun ? 'Dry run: /undo would do this' : 'Undone'
  const rows = files.map((file) => [outcomeWord(file.outcome), formatUndoneFile(file)])
  printRows(context, `${title} · ${pluralize(files.length, 'file')} · turn started ${when}`, rows)
}

const DRY_RUN = 'dry-run'

function formatUndoneFile({ path, reason }: UndoneFile): string {
  return reason === '' ? path : `${path}: ${reason}`
}
