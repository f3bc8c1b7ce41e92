import { replaceFile } from '../../core/base/files.ts'
import { Sanitizer } from '../../core/base/sanitize.ts'
import type { Output } from '../output.ts'
import type { RunRecord } from './record.ts'
import type { Outcome, Sink, TurnEvent } from './sink.ts'

export interface TextSinkOptions {
  stdout: Output
  /** Absolute path of --out-file. */
  outFile: string | undefined
  /** Print nothing before the end. */
  buffer: boolean
  lastOnly: boolean
  /** The answer is JSON of a schema: print that, without fences or earlier attempts. */
  structured: boolean
  /** Keep control sequences even on a terminal. */
  raw: boolean
}

/** The answer's bytes on standard output and nothing else (cli.md, "Output" 1). */
export function textSink(options: TextSinkOptions): Sink {
  const { stdout, outFile } = options
  const waits = outFile !== undefined || options.buffer || options.lastOnly || options.structured
  const sanitizer = stdout.isTerminal && !options.raw && outFile === undefined ? new Sanitizer() : undefined
  const clean = (text: string) => sanitizer?.push(text) ?? text
  let tail = ''
  const print = (text: string): Promise<void> | undefined => {
    if (text === '') return undefined
    tail = (tail + text).slice(-2)
    return stdout.write(text)
  }
  return {
    event(event: TurnEvent) {
      if (waits) return undefined
      if (event.$case === 'chunk') return print(clean(event.value.content))
      return event.$case === 'textStart' && tail !== '' ? print(blankLine(tail)) : undefined
    },
    async finish(record, outcome) {
      if (waits) await printWhole(record, outcome)
      else if (tail !== '' && !tail.endsWith('\n')) print('\n')
      await stdout.flush()
    },
  }

  async function printWhole(record: RunRecord, outcome: Outcome): Promise<void> {
    if (outcome.exit !== 0) return
    const text = answerText(record, outcome)
    const whole = text.endsWith('\n') ? text : `${text}\n`
    if (outFile === undefined) await print(clean(whole))
    else await replaceFile(outFile, whole, 0o666)
  }

  function answerText(record: RunRecord, { structured }: Outcome): string {
    if (structured !== undefined) return JSON.stringify(structured)
    return options.lastOnly ? record.lastText : record.text
  }
}

/** What is missing to a blank line between two steps. */
function blankLine(tail: string): string {
  if (tail === '\n\n') return ''
  return tail.endsWith('\n') ? '\n' : '\n\n'
}
