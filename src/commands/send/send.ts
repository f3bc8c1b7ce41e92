import { toCrabError } from '../../core/base/errors.ts'
import { attach } from '../../daemon/attach.ts'
import { wantsColor } from '../color.ts'
import type { Run } from '../command.ts'
import { formatError } from '../error-text.ts'
import type { Host } from '../host.ts'
import { readInput } from './input.ts'
import { jsonSink } from './json-sink.ts'
import type { RunRecord } from './record.ts'
import { newRecord, outcomeOf, runTurn } from './run.ts'
import { readSettings, type SendSettings } from './settings.ts'
import type { Outcome, Sink } from './sink.ts'
import { Stop } from './stop.ts'
import { streamJsonSink } from './stream-json-sink.ts'
import { textSink } from './text-sink.ts'

/** `crabtalk send`: one turn, as a filter (cli.md). */
export const send: Run = async ({ options, host }) => {
  if (options.has('print-schema')) return printSchema(host)
  const settings = await readSettings(options, host)
  const debug = options.has('debug')
  if (settings.records) return (await import('./records.ts')).runRecords({ settings, host, debug })
  using stop = new Stop({ host, ...settings })
  const record = newRecord(settings)
  const sink = makeSink(settings, host)
  const outcome = await outcomeOf(record, settings, async () => {
    const input = await readInput(settings, host, stop.signal)
    await using attached = await attach(host)
    await runTurn({ settings, host, stop, sink, record, input, dispatch: attached.dispatch })
  })
  const color = wantsColor(settings.color, host.env, host.stderr)
  return finish({ record, sink, outcome, stop, host, debug, color })
}

async function finish(at: {
  record: RunRecord
  sink: Sink
  outcome: Outcome
  stop: Stop
  host: Host
  debug: boolean
  color: boolean
}): Promise<number> {
  const { record, sink, stop, host, debug, color } = at
  const outcome = stop.exit === undefined ? at.outcome : { ...at.outcome, exit: stop.exit }
  try {
    await sink.finish(record, outcome)
  } catch (reason) {
    throw outcome.error && stop.exit === undefined ? outcome.error : toCrabError(reason)
  }
  if (outcome.error && stop.exit === undefined)
    host.stderr.write(formatError(outcome.error, { debug, color }))
  return outcome.exit
}

/** The sink of the asked form. */
function makeSink(settings: SendSettings, host: Host): Sink {
  const { stdout } = host
  const { outFile } = settings
  const now = () => performance.now()
  switch (settings.form) {
    case 'json':
      return jsonSink({ stdout, outFile, now })
    case 'stream-json':
      return streamJsonSink({ stdout, now })
    case 'text':
      return textSink({ ...settings, stdout, structured: settings.schema !== '' })
  }
}

async function printSchema(host: Host): Promise<number> {
  const { outputSchema } = await import('./output-schema.ts')
  host.stdout.write(`${JSON.stringify(outputSchema(), undefined, 2)}\n`)
  return 0
}
