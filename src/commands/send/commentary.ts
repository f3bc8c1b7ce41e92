import { headOf } from '../../core/base/cut.ts'
import { sanitize } from '../../core/base/sanitize.ts'
import type { ToolResultEvent } from '../../core/protocol/crabtalk.generated.ts'
import type { Output } from '../output.ts'
import type { TurnEvent } from './sink.ts'

const ERASE_LINE = '\r\u001b[2K'
/** A run that answers sooner shows no status line at all. */
const STATUS_DELAY_MS = 300
/** A turn that begins sooner needs no word about what it waits for. */
const QUEUE_DELAY_MS = 2_000

export interface CommentaryOptions {
  stderr: Output
  verbosity: number
  thinking: boolean
  /** Show a status line when standard error is a terminal. */
  status: boolean
  term: string | undefined
  /** Width of the terminal; asked when a status line is shown, because asking costs time. */
  columns(): number
}

/**
 * What standard error says beside the answer: notices, one line per tool call with -v, every event with -vv, and on a
 * terminal one status line that erases itself before anything else is printed.
 */
export class Commentary implements Disposable {
  readonly #stderr: Output
  readonly #verbosity: number
  readonly #showsStatus: boolean
  readonly #showsThinking: boolean
  readonly #columns: () => number
  readonly #names = new Map<string, string>()
  /** Who is asked when the model is waited for. */
  #asked = ''
  #running = ''
  /** Questions that wait for a person, who wants to see what they type. */
  #questions = 0
  #timer: NodeJS.Timeout | undefined
  #isShown = false
  /** Set until the turn begins. */
  #queued: NodeJS.Timeout | undefined

  constructor(options: CommentaryOptions) {
    const { stderr, verbosity, thinking, status, term, columns } = options
    this.#stderr = stderr
    this.#verbosity = verbosity
    this.#showsThinking = thinking && verbosity >= 0
    this.#columns = columns
    this.#showsStatus = status && verbosity >= 0 && stderr.isTerminal && term !== 'dumb'
    const waiting = 'crabtalk: waiting to begin; another turn of this conversation may be running\n'
    if (verbosity >= 1 || this.#showsStatus)
      this.#queued = setTimeout(() => this.#print(waiting), QUEUE_DELAY_MS)
  }

  event(event: TurnEvent): void {
    clearTimeout(this.#queued)
    switch (event.$case) {
      case 'start':
        this.#asked = `${event.value.agent} · ${event.value.model}`
        this.#status(this.#asked)
        break
      case 'thinking':
        if (this.#showsThinking) this.#print(sanitize(event.value.content))
        break
      case 'thinkingEnd':
        if (this.#showsThinking) this.#print('\n')
        break
      case 'toolStart':
        for (const { callId, name } of event.value.calls) this.#names.set(callId, name)
        this.#running = `running ${event.value.calls.map((call) => call.name).join(', ')}`
        this.#status(this.#running)
        break
      case 'askUser':
        this.#questions++
        this.clear()
        break
      case 'askClosed':
        if (--this.#questions === 0) this.#status(this.#running)
        break
      case 'toolResult':
        if (this.#verbosity >= 1) this.#print(this.#toolLine(event.value))
        break
      case 'toolsComplete':
        this.#status(this.#asked)
        break
      case 'retry':
        if (this.#verbosity >= 1 || this.#showsStatus) this.#retry(event.value)
        break
      case 'notice':
        if (this.#verbosity >= 0) this.#print(`crabtalk: ${sanitize(event.value.message)}\n`)
        break
    }
    if (this.#verbosity >= 2 && event.$case !== 'chunk')
      this.#print(`${event.$case} ${sanitize(JSON.stringify(event.value))}\n`)
  }

  /** Erases the status line. */
  clear(): void {
    clearTimeout(this.#timer)
    if (!this.#isShown) return
    this.#isShown = false
    this.#stderr.write(ERASE_LINE)
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#queued)
    this.clear()
  }

  #print(text: string): void {
    this.clear()
    this.#stderr.write(text)
  }

  #status(text: string): void {
    if (!this.#showsStatus) return
    this.clear()
    this.#timer = setTimeout(() => {
      this.#isShown = true
      const shown = headOf(sanitize(text), this.#columns() - 3) // a second line would never be erased
      this.#stderr.write(`${ERASE_LINE}${shown} …`)
    }, STATUS_DELAY_MS)
  }

  #retry({ attempt, delayMs, message }: { attempt: number; delayMs: number; message: string }): void {
    this.#print(`crabtalk: retry ${attempt} in ${delayMs} ms: ${sanitize(message)}\n`)
  }

  #toolLine({ callId, durationMs, isError, denial }: ToolResultEvent): string {
    const name = sanitize(this.#names.get(callId) ?? callId)
    const how = denial ? `not permitted: ${sanitize(denial.reason)}` : `${durationMs} ms`
    return `${isError ? '✗' : '✓'} ${name} · ${how}\n`
  }
}
