import type { ParsedOptions } from '../../cli/command.ts'
import type { Host } from '../../cli/host.ts'
import { resolvePaths } from '../../cli/paths.ts'
import { StopController } from '../../cli/stop-controller.ts'
import { TextSink } from '../../cli/turn/text-sink.ts'
import { TurnOutput } from '../../cli/turn/turn-output.ts'
import { ERROR_KINDS, toCrabError } from '../../core/base/errors.ts'
import { sanitize } from '../../core/base/sanitize.ts'
import { findCron } from './entries.ts'
import { fireEntry, newEntryRecord } from './fire-entry.ts'
import { recordRun } from './record-run.ts'

/**
 * Fires an entry now, regardless of its schedule, and prints the answer as `send` does. The scheduler does
 * not count the run; its result is recorded separately.
 */
export async function runNow({
  id,
  host,
  options,
}: {
  id: string
  host: Host
  options: ParsedOptions
}): Promise<number> {
  const { entry } = await findCron(resolvePaths(host), id)
  using stop = new StopController({ host, timeoutMs: 0, idleTimeoutMs: 0 })
  const record = newEntryRecord(entry)
  const due = Date.now()
  const plain = { outFile: undefined, buffer: false, lastOnly: false, structured: false, raw: false }
  const sink = new TextSink({ stdout: host.stdout, ...plain })
  const verbosity = options.count('verbose')
  const error = await runEntry().then(() => undefined, toCrabError)
  await recordRun(host, { entry, record, due, error }).catch((reason: unknown) => {
    host.stderr.write(sanitize(`crabtalk: ${toCrabError(reason).message}\n`)) // the turn is over
  })
  const exit = stop.exit ?? (error ? ERROR_KINDS[error.kind].exit : 0)
  await sink.finish(record, { exit, error, structured: undefined })
  if (stop.exit !== undefined) return exit
  if (error) throw error
  return 0

  async function runEntry(): Promise<void> {
    using output = new TurnOutput({ host, sink, record, verbosity, thinking: false, status: true })
    await fireEntry({ caller: host, entry, record, show: (event) => output.show(event) }, stop.signal)
  }
}
