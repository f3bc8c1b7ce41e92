import { wantsColor } from '../../cli/color.ts'
import type { CommandHandler, ParsedOptions } from '../../cli/command.ts'
import { type ErrorStyle, formatError } from '../../cli/error-text.ts'
import type { Host } from '../../cli/host.ts'
import { StopController } from '../../cli/stop-controller.ts'
import { formatDenials } from '../../cli/turn/denials.ts'
import type { RunRecord } from '../../cli/turn/record.ts'
import type { RunOutcome, Sink } from '../../cli/turn/sink.ts'
import { TextSink } from '../../cli/turn/text-sink.ts'
import { toCrabError } from '../../core/base/errors.ts'
import { toShownJson } from '../../core/base/json.ts'
import { attach } from '../../daemon/attach.ts'
import { readInput } from './input.ts'
import { programSink, reportEarly } from './program-sink.ts'
import { newRunRecord, runToOutcome, sendAndFollow } from './run.ts'
import { daemonFor, readSettings, type SendSettings } from './settings.ts'

/** Runs `crabtalk send`: one turn, as a filter (ADR 0062). */
export const sendCommand: CommandHandler = async ({ program, options, host, signal }) => {
  if (options.has('print-schema')) return printSchema(host)
  const settings = await readSettings(options, host, signal).catch((reason) =>
    failEarly(reason, options, host),
  )
  const debug = options.has('debug')
  if (settings.records) return (await import('./records.ts')).runRecords({ program, settings, host, debug })
  if (settings.detach) return (await import('./detach.ts')).sendDetached({ program, settings, host, debug })
  using stop = new StopController({ host, ...settings })
  const record = newRunRecord(settings)
  const sink = makeSink(settings, host)
  const outcome = await runToOutcome(record, settings, async () => {
    const input = await readInput(settings, host, stop.signal)
    await using attached = await attach(host, {
      daemon: daemonFor(settings),
      task: 'run the turn in a daemon',
      signal: stop.signal,
    })
    if (settings.verbosity > 0 && attached.why) host.stderr.write(`runs in this process: ${attached.why}\n`)
    await sendAndFollow({ settings, host, stop, sink, record, input, attached })
  })
  const color = wantsColor(settings.color, host.env, host.stderr)
  return await finish({ record, sink, outcome, stop, host, style: { program, debug, color } })
}

/** Throws the error in the options, after printing it in the form that a program requested. */
async function failEarly(reason: unknown, options: ParsedOptions, host: Host): Promise<never> {
  const error = toCrabError(reason)
  await reportEarly(error, { form: options.value('output'), agent: options.value('agent') }, host)
  throw error
}

async function finish(at: {
  record: RunRecord
  sink: Sink
  outcome: RunOutcome
  stop: StopController
  host: Host
  style: ErrorStyle
}): Promise<number> {
  const { record, sink, stop, host, style } = at
  const outcome = stop.exit === undefined ? at.outcome : { ...at.outcome, exit: stop.exit }
  try {
    await sink.finish(record, outcome)
  } catch (reason) {
    throw outcome.error && stop.exit === undefined ? outcome.error : toCrabError(reason)
  }
  if (stop.exit !== undefined) return outcome.exit
  // the error of a failed run names the call itself
  if (record.end?.error === '') host.stderr.write(formatDenials(record.unattendedDenials, record.sender))
  if (outcome.error) host.stderr.write(formatError(outcome.error, style))
  return outcome.exit
}

/** Returns the sink of the requested form. */
function makeSink(settings: SendSettings, host: Host): Sink {
  const { form, outFile, schema } = settings
  const { stdout } = host
  return programSink(form, host, outFile) ?? new TextSink({ ...settings, stdout, structured: schema !== '' })
}

async function printSchema(host: Host): Promise<number> {
  const { outputSchema } = await import('./output-schema.ts')
  host.stdout.write(`${toShownJson(outputSchema(), 2)}\n`)
  return 0
}
