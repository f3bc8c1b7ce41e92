import type { CommandHandler, ParsedOptions } from '../../cli/command.ts'
import type { Host } from '../../cli/host.ts'
import { printJson } from '../../cli/print.ts'
import { ulidTime } from '../../core/base/ids.ts'
import { relativeTime } from '../../core/base/relative-time.ts'
import { sanitize } from '../../core/base/sanitize.ts'
import { listSpeakers } from '../../core/base/sender-class.ts'
import type { UndoResult } from '../../core/protocol/crabtalk.generated.ts'
import { type Dispatch, request } from '../../core/protocol/dispatch.ts'
import { NOTHING_TO_UNDO, outcomeWord } from '../../core/protocol/undo-words.ts'
import { attach } from '../../daemon/attach.ts'

/** Runs `crabtalk conversation undo`. */
export const undoCommand: CommandHandler = async ({ options, host, signal }) => {
  const dryRun = options.has('dry-run')
  await using attached = await attach(host)
  const pair = await choosePair(attached.dispatch, options, signal)
  const result = pair && (await request(attached.dispatch, 'undo', { ...pair, dryRun }, signal))
  if (options.has('json')) return printJson(host, toJson(result ?? { runId: '', files: [] }))
  if (!pair || !result?.runId) host.stderr.write(`${NOTHING_TO_UNDO}\n`)
  else printResult(host, { ...result, ...pair, dryRun })
  return 0
}

interface PairNames {
  agent: string
  sender: string
}

/** Returns the pair that was used last among those that match the options; undefined when there is none. */
async function choosePair(
  dispatch: Dispatch,
  options: ParsedOptions,
  signal: AbortSignal,
): Promise<PairNames | undefined> {
  const filter = { agent: options.value('agent') ?? '', sender: options.value('sender') ?? '', limit: 1 }
  const { conversations } = await request(dispatch, 'listConversations', filter, signal)
  const [last] = conversations
  if (!last) return undefined
  const { agents } = await request(dispatch, 'listAgents', {}, signal)
  const now = agents.find(({ id }) => id === last.agentId) // it may have been renamed since
  return { agent: now?.name ?? last.agent, sender: last.sender }
}

function toJson({ runId, files }: UndoResult) {
  const rows = files.map(({ path, outcome, reason }) => ({ path, outcome: outcomeWord(outcome), reason }))
  return { run_id: runId, files: rows }
}

function printResult(
  host: Host,
  { agent, sender, runId, files, dryRun }: UndoResult & PairNames & { dryRun: boolean },
): void {
  const when = relativeTime(ulidTime(runId), Date.now())
  const what = dryRun ? 'would undo' : 'undid'
  const whose = listSpeakers({ agent, sender }).join(' with ')
  host.stderr.write(sanitize(`${what} a turn of ${whose}, started ${when}\n`))
  for (const { path, outcome, reason } of files) {
    const why = reason === '' ? '' : `: ${reason}`
    host.stdout.write(`${outcomeWord(outcome).padEnd(WORD)}  ${sanitize(path + why).replaceAll('\n', ' ')}\n`)
  }
}

const WORD = 'restored'.length
