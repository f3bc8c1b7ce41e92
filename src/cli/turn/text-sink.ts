import { ERROR_KINDS } from '../../core/base/errors.ts'
import { toShownJson } from '../../core/base/json.ts'
import { Sanitizer } from '../../core/base/sanitize.ts'
import type { WireTurnEvent } from '../../core/protocol/turn-fold.ts'
import type { OutFile } from '../out-file.ts'
import type { Output } from '../output.ts'
import { blankLine, isAnswered, type RunRecord } from './record.ts'
import type { RunOutcome, Sink } from './sink.ts'

/** The settings of a text sink. */
export interface TextSinkOptions {
  stdout: Output
  outFile: OutFile | undefined
  /** Whether to print nothing before the end. */
  buffer: boolean
  lastOnly: boolean
  /**
   * Whether the answer is JSON that conforms to a schema; then only that is printed, without fences or
   * earlier attempts.
   */
  structured: boolean
  /** Whether to keep control sequences even on a terminal. */
  raw: boolean
}

/** Prints the answer's bytes to standard output and nothing else (ADR 0062). */
export class TextSink implements Sink {
  readonly #options: TextSinkOptions
  /** Whether nothing is printed before the end. */
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
        // needed in any case: for the blank line before another text, and as the final line break
        return this.#endLine()
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
