import { wantsColor } from '../../cli/color.ts'
import type { CommandHandler, ParsedOptions } from '../../cli/command.ts'
import { resolveRunId } from '../../cli/conversation-address.ts'
import { parseDuration } from '../../cli/duration.ts'
import { formatError } from '../../cli/error-text.ts'
import type { Host } from '../../cli/host.ts'
import { requireDaemon } from '../../cli/require-daemon.ts'
import { StopController } from '../../cli/stop-controller.ts'
import { formatDenials } from '../../cli/turn/denials.ts'
import { findRunFailure, RunRecord, toResult } from '../../cli/turn/record.ts'
import { withDeadline } from '../../core/base/deadline.ts'
import { CrabError, ERROR_KINDS, toCrabError } from '../../core/base/errors.ts'
import { toShownJson } from '../../core/base/json.ts'
import { sanitize } from '../../core/base/sanitize.ts'
import type { RunResult } from '../../core/protocol/crabtalk.generated.ts'
import { request } from '../../core/protocol/dispatch.ts'

/**
 * Runs `crabtalk wait`: prints the answer of a run, and exits with the code that `send` would have had. The
 * run continues when the command is interrupted.
 */
export const waitRunCommand: CommandHandler = async ({ program, options, host }) => {
  const timeoutMs = parseDuration('timeout', options.value('timeout') ?? '0')
  using stop = new StopController({ host, timeoutMs: 0, idleTimeoutMs: 0 })
  const outcome = await fetchResult({ options, host, timeoutMs }, stop.signal).then(
    (result) => ({ result, error: undefined }),
    (reason) => ({ result: undefined, error: toCrabError(reason) }),
  )
  if (stop.exit !== undefined) return stop.exit
  const { result } = outcome
  const record = toRecord(options.args[0] ?? '', result)
  const error = result ? findRunFailure(record, { failOnToolError: false }) : outcome.error
  const exit = error ? ERROR_KINDS[error.kind].exit : 0
  await printOutcome({ record, error, exit }, { json: options.has('json'), host })
  if (record.end?.error === '') host.stderr.write(formatDenials(record.unattendedDenials, record.sender))
  const style = { program, debug: options.has('debug'), color: wantsColor('auto', host.env, host.stderr) }
  if (error) host.stderr.write(formatError(error, style))
  return stop.exit ?? exit
}

async function fetchResult(
  { options, host, timeoutMs }: { options: ParsedOptions; host: Host; timeoutMs: number },
  signal: AbortSignal,
): Promise<RunResult> {
  const [word = ''] = options.args
  await using attached = await requireDaemon(host, { task: 'wait for the run' }, signal)
  const runId = await resolveRunId(word, attached.dispatch, signal)
  const wait = (until: AbortSignal) => request(attached.dispatch, 'waitRun', { runId }, until)
  if (timeoutMs === 0) return await wait(signal)
  return await withDeadline(wait, { ms: timeoutMs, toError: () => toTimeoutError(runId, timeoutMs) }, signal)
}

function toTimeoutError(runId: string, timeoutMs: number): CrabError {
  const why = `Cannot wait any longer: run ${runId} takes longer than ${timeoutMs / 1000} s, and continues`
  return new CrabError('timeout', why, { hint: `crabtalk wait ${runId} waits again` })
}

/** Returns the record that `send` would have made, as far as it is known: the times of events are not. */
function toRecord(run: string, result: RunResult | undefined): RunRecord {
  const { agent = '', sender = '', session = '', content = '', end } = result ?? {}
  const record = new RunRecord({ startedAt: performance.now(), agent, sender })
  record.run = result?.runId ?? run
  record.session = session
  record.end = end
  const { summary } = record
  summary.addText(content)
  for (const tool of result?.tools ?? []) summary.tools.set(tool.name, tool)
  for (const { name, server, denial } of result?.denied ?? []) {
    if (denial) summary.denied.push({ name, server, denial })
  }
  return record
}

async function printOutcome(
  { record, error, exit }: { record: RunRecord; error: CrabError | undefined; exit: number },
  { json, host: { stdout } }: { json: boolean; host: Host },
): Promise<void> {
  if (json) {
    const outcome = { exit, error, structured: undefined, now: performance.now() }
    stdout.write(`${toShownJson(toResult(record, outcome))}\n`)
  } else if (record.text !== '') {
    const text = stdout.isTerminal ? sanitize(record.text) : record.text
    stdout.write(text.endsWith('\n') ? text : `${text}\n`)
  }
  await stdout.flush()
}
