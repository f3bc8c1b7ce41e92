import { Sanitizer } from '../../core/base/sanitize.ts'
import type { OutFile } from '../out-file.ts'
import type { Output } from '../output.ts'
import { blankLine, type RunRecord } from './record.ts'
import type { Outcome, Sink, TurnEvent } from './sink.ts'

export interface TextSinkOptions {
  stdout: Output
  outFile: OutFile | undefined
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
      switch (event.$case) {
        case 'chunk':
          return print(clean(event.value.content))
        case 'textStart':
          return tail === '' ? undefined : print(blankLine(tail))
        case 'textEnd':
          return endLine() // whatever comes needs it: another text a blank line, the end a final newline
      }
      return undefined
    },
    async finish(record, outcome) {
      if (waits) await printWhole(record, outcome)
      else endLine()
      await stdout.flush()
    },
  }

  function endLine(): Promise<void> | undefined {
    return tail === '' || tail.endsWith('\n') ? undefined : print('\n')
  }

  async function printWhole(record: RunRecord, outcome: Outcome): Promise<void> {
    if (outcome.exit !== 0) return
    const text = answerText(record, outcome)
    const whole = text.endsWith('\n') ? text : `${text}\n`
    if (outFile === undefined) await print(clean(whole))
    else await outFile(whole)
  }

  function answerText(record: RunRecord, { structured }: Outcome): string {
    if (structured !== undefined) return JSON.stringify(structured)
    return options.lastOnly ? record.lastText : record.text
  }
}
