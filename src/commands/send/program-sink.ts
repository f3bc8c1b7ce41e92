import type { ReportRefusal } from '../../cli/command.ts'
import type { Host } from '../../cli/host.ts'
import type { OutFile } from '../../cli/out-file.ts'
import type { Output } from '../../cli/output.ts'
import { RunRecord, toResult } from '../../cli/turn/record.ts'
import type { Sink } from '../../cli/turn/sink.ts'
import { streamJsonSink } from '../../cli/turn/stream-json-sink.ts'
import { type CrabError, ERROR_KINDS } from '../../core/base/errors.ts'
import { toShownJson } from '../../core/base/json.ts'

/** Returns the sink of an output form for programs; undefined for any other form. */
export function programSink(
  form: string | undefined,
  { stdout }: Host,
  outFile: OutFile | undefined,
): Sink | undefined {
  const now = () => performance.now()
  if (form === 'json') return jsonSink({ stdout, outFile, now })
  return form === 'stream-json' ? streamJsonSink({ stdout, now }) : undefined
}

/**
 * Prints a failure before the run in the form that a program requested; does nothing for people, who get the
 * error in another way.
 */
export async function reportEarly(
  error: CrabError,
  { form, agent = '' }: { form: string | undefined; agent?: string | undefined },
  host: Host,
): Promise<void> {
  const record = new RunRecord({ startedAt: performance.now(), agent, sender: '' })
  const outcome = { exit: ERROR_KINDS[error.kind].exit, error, structured: undefined }
  await programSink(form, host, undefined)?.finish(record, outcome)
}

/** Reports a command line that could not be parsed; the output form is searched among its words. */
export const reportRefusal: ReportRefusal = ({ error, words, host }) =>
  reportEarly(error, { form: findOutputForm(words) }, host)

/** Returns the last `--output FORM`, `--output=FORM`, `-o FORM` or `-oFORM` before `--`. */
function findOutputForm(words: readonly string[]): string | undefined {
  const end = words.indexOf('--')
  const line = (end < 0 ? words : words.slice(0, end)).join('\0')
  return [...line.matchAll(/(?:^|\0)(?:--output[=\0]|-o[=\0]?)([\w-]+)(?=\0|$)/g)].at(-1)?.[1]
}

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
