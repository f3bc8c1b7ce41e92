import type { CommandHandler, ParsedOptions } from '../../cli/command.ts'
import { parseCount } from '../../cli/duration.ts'
import { findConversation, shortId } from '../../cli/find-conversation.ts'
import type { Host } from '../../cli/host.ts'
import { printJson, printTable } from '../../cli/print.ts'
import { CrabError } from '../../core/base/errors.ts'
import { pluralize } from '../../core/base/format.ts'
import { relativeTime } from '../../core/base/relative-time.ts'
import { sanitizeLine } from '../../core/base/sanitize.ts'
import type { RewindPoint, RewindResult } from '../../core/protocol/crabtalk.generated.ts'
import { request } from '../../core/protocol/dispatch.ts'
import { outcomeWord } from '../../core/protocol/undo-words.ts'
import { attach } from '../../daemon/attach.ts'

/** Runs `crabtalk conversation rewind`. */
export const rewindConversationCommand: CommandHandler = async ({ options, host, signal }) => {
  const to = readTarget(options)
  const keepMessages = options.has('only-files')
  const files = options.has('files') || keepMessages
  const dryRun = options.has('dry-run')
  await using attached = await attach(host)
  const { filePath: session } = await findConversation(attached.dispatch, options.args[0], signal)
  const how = { session, to, files, keepMessages, dryRun }
  const result = await request(attached.dispatch, 'rewind', how, signal)
  if (to === 0) return await printPoints(host, result.points, options.has('json'))
  if (options.has('json')) return printJson(host, toJson(result))
  const what = dryRun ? 'would drop' : 'dropped'
  host.stdout.write(`${what} ${pluralize(result.messages, 'message')} of ${shortId(session)}\n`)
  for (const { path, outcome, reason } of result.files) {
    const why = reason === '' ? '' : `: ${reason}`
    host.stdout.write(`${outcomeWord(outcome).padEnd(WORD)}  ${sanitizeLine(path + why)}\n`)
  }
  return 0
}

const WORD = 'restored'.length

/** Returns the number of the message; 0 to list the messages. */
function readTarget(options: ParsedOptions): number {
  const to = options.value('to')
  if (to !== undefined) return parseCount('to', to, 1)
  const alone = ['files', 'only-files', 'dry-run'].find((name) => options.has(name))
  if (alone === undefined) return 0
  throw new CrabError('usage', `Cannot use --${alone} without --to`, {
    hint: 'crabtalk conversation rewind lists the numbers of your messages',
  })
}

async function printPoints(host: Host, points: readonly RewindPoint[], isJson: boolean): Promise<number> {
  if (isJson) return printJson(host, points)
  if (points.length === 0) host.stderr.write('No message to go back to\n')
  const now = Date.now()
  const rows = points.map(({ seq, ts, files, content }) => [
    String(seq),
    relativeTime(ts, now),
    String(files),
    content,
  ])
  if (rows.length > 0) await printTable(host, ['TO', 'SENT', 'FILES', 'MESSAGE'], rows)
  return 0
}

function toJson({ messages, content, files }: RewindResult) {
  const rows = files.map(({ path, outcome, reason }) => ({ path, outcome: outcomeWord(outcome), reason }))
  return { messages, content, files: rows }
}
