import { CrabError, parseErrorKind, toCrabError } from '../../core/base/errors.ts'
import type { AskClosedEvent, AskUserEvent } from '../../core/protocol/crabtalk.generated.ts'
import { wantsColor } from '../color.ts'
import type { Host, Terminal } from '../host.ts'
import { type DialogAnswers, discardEarlyInput, runDialog } from './dialog.ts'

export interface TerminalPrompterOptions {
  host: Host
  color: 'auto' | 'always' | 'never'
  /** Waits for an exclusive right among all processes of this home. */
  lease(resource: string, signal: AbortSignal): Promise<AsyncDisposable>
  /** Gives the answer to whoever asked. */
  reply(askId: string, answers: DialogAnswers): Promise<void>
  /** Nobody can be asked any more: the terminal has gone, say. */
  fail(error: CrabError): void
}

/**
 * Puts the questions of a turn to the person at the terminal, one at a time, also across processes.
 *
 * While a question stands there, what this process prints to the same terminal is held back. Disposing closes all
 * questions and waits until the terminal is free.
 */
export class TerminalPrompter implements AsyncDisposable {
  readonly #options: TerminalPrompterOptions
  readonly #open = new Map<string, AbortController>()
  #last: Promise<void> = Promise.resolve()

  constructor(options: TerminalPrompterOptions) {
    this.#options = options
  }

  /** Puts a question, after those that were put before. `agent` is who asks. */
  enqueue(ask: AskUserEvent, agent: string): void {
    const closing = new AbortController()
    this.#open.set(ask.askId, closing)
    this.#last = this.#last.then(() => this.#ask(ask, agent, closing.signal))
  }

  /** A question needs no answer any more; nothing is said to a person who gave it. */
  close({ askId, by }: Pick<AskClosedEvent, 'askId' | 'by'>): void {
    this.#open.get(askId)?.abort(new CrabError('cancelled', describeClosing(by)))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const closing of this.#open.values()) closing.abort(new CrabError('cancelled', ''))
    await this.#last
  }

  async #ask(ask: AskUserEvent, agent: string, signal: AbortSignal): Promise<void> {
    try {
      const answers = await this.#runDialog(ask, agent, signal)
      this.#open.delete(ask.askId)
      await this.#options.reply(ask.askId, answers)
    } catch (reason) {
      const error = toCrabError(reason)
      if (error.kind === 'missing') this.#options.host.stderr.write(TOO_LATE)
      else if (!signal.aborted) this.#options.fail(error)
    } finally {
      this.#open.delete(ask.askId)
    }
  }

  async #runDialog(ask: AskUserEvent, agent: string, signal: AbortSignal): Promise<DialogAnswers> {
    const { host, color } = this.#options
    using terminal = host.terminal()
    if (!terminal) throw new CrabError('denied', 'Cannot ask: the terminal has gone')
    await using _turn = await this.#acquireTerminal(terminal, signal)
    signal.throwIfAborted()
    using _held = await holdOutput(host)
    const { output } = terminal
    const style = { columns: host.columns(), color: wantsColor(color, host.env, output) }
    terminal.forgetInput()
    try {
      const see = (until: AbortSignal) => discardEarlyInput(terminal, until)
      return await runDialog(ask, { terminal, style, agent, see }, signal)
    } catch (reason) {
      output.write(closingLine(signal))
      throw reason
    } finally {
      await output.flush()
    }
  }

  /** A home that cannot be written must not keep a person from answering. */
  async #acquireTerminal(
    { name, output }: Terminal,
    signal: AbortSignal,
  ): Promise<AsyncDisposable | undefined> {
    const timer = setTimeout(() => output.write(WAITING), PATIENCE_MS)
    try {
      return await this.#options.lease(name === '' ? 'tty' : `tty:${name}`, signal)
    } catch (reason) {
      if (toCrabError(reason).kind !== 'storage') throw reason
      return undefined
    } finally {
      clearTimeout(timer)
    }
  }
}

/** Prints what there is to print, then keeps this process's other words off the terminal. */
async function holdOutput({ stdout, stderr }: Host): Promise<Disposable> {
  const shared = [stdout, stderr].filter((output) => output.isTerminal)
  await Promise.all(shared.map((output) => output.flush()))
  const held = new DisposableStack()
  for (const output of shared) held.use(output.hold())
  return held
}

/** The cursor stands behind the other one's prompt. */
const WAITING = '\ncrabtalk: waiting for another crabtalk to be answered on this terminal\n'
const PATIENCE_MS = 2_000
const TOO_LATE = 'crabtalk: the answer came too late: the question was closed before\n'

function closingLine(signal: AbortSignal): string {
  const words = toCrabError(signal.reason).message
  return words === '' ? '\n' : `\ncrabtalk: the question is closed: ${words}\n`
}

/** In words; empty when the run is over, which needs none. */
function describeClosing(by: string): string {
  if (by === 'timeout') return 'nobody answered in time'
  return parseErrorKind(by) === undefined ? 'it was answered elsewhere' : ''
}
