import type { OutFile } from '../../cli/out-file.ts'
import type { Output } from '../../cli/output.ts'
import { toShownJson } from '../../core/base/json.ts'
import { type RunRecord, toResult } from './record.ts'
import type { Sink } from './sink.ts'

/** Prints one JSON object at the end, even for a failed run (docs/scripting.md). */
export function jsonSink(options: { stdout: Output; outFile: OutFile | undefined; now(): number }): Sink {
  return {
    event: () => undefined,
    async finish(record: RunRecord, outcome) {
      const line = `${toShownJson(toResult(record, { ...outcome, now: options.now() }))}\n`
      if (options.outFile && outcome.exit === 0) await options.outFile(line)
      else options.stdout.write(line)
      await options.stdout.flush()
    },
  }
}
