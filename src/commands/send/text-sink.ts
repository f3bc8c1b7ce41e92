import { ERROR_KINDS } from '../../core/base/errors.ts'
import { toShownJson } from '../../core/base/json.ts'
import { Sanitizer } from '../../core/base/sanitize.ts'
import type { OutFile } from '../out-file.ts'
import type { Output } from '../output.ts'
import { blankLine, isAnswered, type RunRecord } from './record.ts'
import type { RunOutcome, Sink, WireTurnEvent } from './sink.ts'

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
export class TextSink implements Sink {
  readonly #options: TextSinkOptions
  /** Nothing is printed before the end. */
  readonly #waits: boolean
  readonly #sanitizer: Sanitizer | undefined
  /** The last two characters that were printed. */
  #tail = ''

  constructor(options: TextSinkOptions) {
    const { stdout, outFile, buffer, lastOnly, structured, raw } = options
    this.#options = options
    this.#waits = outFile !== undefined || buffer || lastOnly || structured
    this.#sanitizer = stdout.isTerminal && !raw && outFile === undefined ? new Sanitizer() : undefined
  }

  event(event: WireTurnEvent): Promise<void> | undefined {
    if (this.#waits) return undefined
    switch (event.$case) {
      case 'chunk':
        return this.#print(this.#clean(event.value.content))
      case 'textStart':
        return this.#tail === '' ? undefined : this.#print(blankLine(this.#tail))
      case 'textEnd':
        return this.#endLine() // whatever comes needs it: another text a blank line, the end a final newline
    }
    return undefined
  }

  async finish(record: RunRecord, outcome: RunOutcome): Promise<void> {
    if (this.#waits) await this.#printWhole(record, outcome)
    else this.#endLine()
    await this.#options.stdout.flush()
  }

  #clean(text: string): string {
    return this.#sanitizer?.push(text) ?? text
  }

  #print(text: string): Promise<void> | undefined {
    if (text === '') return undefined
    this.#tail = (this.#tail + text).slice(-2)
    return this.#options.stdout.write(text)
  }

  #endLine(): Promise<void> | undefined {
    return this.#tail === '' || this.#tail.endsWith('\n') ? undefined : this.#print('\n')
  }

  async #printWhole(record: RunRecord, outcome: RunOutcome): Promise<void> {
    const { outFile } = this.#options
    const lacksPermission = outcome.error?.kind === 'denied' && outcome.exit === ERROR_KINDS.denied.exit
    if (outcome.exit !== 0 && !(lacksPermission && !outFile && isAnswered(record))) return
    const text = this.#answer(record, outcome)
    const whole = text.endsWith('\n') ? text : `${text}\n`
    if (outFile === undefined) await this.#print(this.#clean(whole))
    else await outFile(whole)
  }

  #answer(record: RunRecord, { structured }: RunOutcome): string {
    if (structured !== undefined) return toShownJson(structured)
    return this.#options.lastOnly ? record.lastText : record.text
  }
}
