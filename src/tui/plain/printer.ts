import { Sanitizer } from '../../core/base/sanitize.ts'
import type { RetryEvent, StreamEvent } from '../../core/protocol/crabtalk.generated.ts'
import type { Dispatch } from '../../core/protocol/dispatch.ts'
import type { ChatStore } from '../state/store.ts'
import { renderBlock } from '../view/block.ts'
import type { Block } from '../view/blocks.ts'
import { formatRetryReason, formatRetryWait } from '../view/retry.ts'

export interface PrinterOptions {
  store: ChatStore
  write(text: string): void
  columns(): number
}

/**
 * Prints the chat line by line, nothing twice and without moving the cursor: answers while they stream,
 * everything else when it is finished.
 */
export class Printer {
  readonly #options: PrinterOptions
  #sanitizer = new Sanitizer()
  #isLineOpen = false
  /** Whether answers of the running turn are printed while they stream, and therefore not as blocks again. */
  #isStreaming = false

  constructor(options: PrinterOptions) {
    this.#options = options
  }

  /** Wraps a dispatch so that the answers of turns are printed while they pass through. */
  tap(dispatch: Dispatch): Dispatch {
    const hear = (event: StreamEvent['event']) => this.#hear(event)
    return async function* tapped(message, signal) {
      for await (const reply of dispatch(message, signal)) {
        yield reply
        const event = reply.msg?.$case === 'attach' ? reply.msg.value.event : undefined
        if (event?.$case === 'stream') hear(event.value.event)
      }
    }
  }

  /** Prints the finished blocks. */
  printFinished(): void {
    const { store } = this.#options
    const { finished, turn } = store.get()
    const last = finished.at(-1)
    if (last) {
      for (const { block } of finished) if (!this.#isPrinted(block)) this.#printBlock(block)
      store.act({ type: 'printed', upto: last.id }) // notifies this method again, when there is nothing left to print
    }
    if (!turn) this.#isStreaming = false
  }

  /** Prints a text, unchanged, on a new line. The line stays open unless the text ends it. */
  print(text: string): void {
    this.endLine()
    this.#write(text)
  }

  /** Whether the cursor is after text on its line. */
  get isLineOpen(): boolean {
    return this.#isLineOpen
  }

  /** Ends an open line. */
  endLine(): void {
    if (this.#isLineOpen) this.#write('\n')
  }

  /** Records that the user has ended the line by typing Enter. */
  lineEnded(): void {
    this.#isLineOpen = false
  }

  #hear(event: StreamEvent['event']): void {
    this.#isStreaming = true
    if (event?.$case === 'textStart') {
      this.printFinished()
      this.#sanitizer = new Sanitizer()
      this.print('\n')
    }
    if (event?.$case === 'chunk') this.#write(this.#sanitizer.push(event.value.content))
    if (event?.$case === 'textEnd') this.endLine()
    if (event?.$case === 'retry') this.#printRetry(event.value)
  }

  #printRetry({ attempt, maxAttempts, message, delayMs }: RetryEvent): void {
    const [when, which] = formatRetryWait({ attempt: attempt + 1, maxAttempts, ms: delayMs })
    const text = `${formatRetryReason(message)}; ${when} (${which})`
    this.printFinished()
    this.#printBlock({ kind: 'notice', tone: 'warning', text })
  }

  /** Whether a block is already on the screen: a message the user has just typed, or a streamed answer. */
  #isPrinted(block: Block): boolean {
    const isOurs =
      block.kind === 'user' && block.how === 'sent' && this.#options.store.get().turn !== undefined
    return isOurs || (this.#isStreaming && block.kind === 'answer')
  }

  #printBlock(block: Block): void {
    const view = {
      columns: this.#options.columns(),
      rows: Number.MAX_SAFE_INTEGER,
      color: false,
      isPlain: true,
    }
    const lines = renderBlock(block, { ...view, details: this.#options.store.get().details })
    if (lines.length > 0) this.print(`${lines.join('\n')}\n`)
  }

  #write(text: string): void {
    if (text === '') return
    this.#isLineOpen = !text.endsWith('\n')
    this.#options.write(text)
  }
}
