import { CrabError, parseErrorKind, toCrabError } from '../../core/base/errors.ts'
import { Serial } from '../../core/base/serial.ts'
import type { AskClosedEvent, AskUserEvent } from '../../core/protocol/crabtalk.generated.ts'
import { wantsColor } from '../color.ts'
import type { Host, Terminal } from '../host.ts'
import { type DialogReply, discardEarlyInput, runDialog } from './dialog.ts'

/** The dependencies of a terminal prompter. */
export interface TerminalPrompterOptions {
  host: Host
  color: 'auto' | 'always' | 'never'
  /** Waits for an exclusive lease among all processes of this home. */
  lease(resource: string, signal: AbortSignal): Promise<AsyncDisposable>
  /** Sends the answers to the turn that asked. */
  reply(askId: string, reply: DialogReply): Promise<void>
  /** Called when the user can no longer be asked, for example because the terminal is gone. */
  fail(error: CrabError): void
}

/**
 * Asks the user at the terminal the questions of a turn, one at a time, also across processes.
 *
 * While a question is on the screen, other output of this process to the same terminal is held back.
 * Disposing closes all questions and waits until the terminal is free.
 */
export class TerminalPrompter implements AsyncDisposable {
  readonly #options: TerminalPrompterOptions
  readonly #open = new Map<string, AbortController>()
  readonly #questions = new Serial()

  constructor(options: TerminalPrompterOptions) {
    this.#options = options
  }

  /** Queues a question after the earlier ones. `agent` is the name of the agent that asks. */
  enqueue(ask: AskUserEvent, agent: string): void {
    const closing = new AbortController()
    this.#open.set(ask.askId, closing)
    void this.#questions.run(() => this.#ask(ask, agent, closing.signal))
  }

  /** Closes a question that no longer needs an answer; does nothing for a question that was answered here. */
  close({ askId, by }: Pick<AskClosedEvent, 'askId' | 'by'>): void {
    this.#open.get(askId)?.abort(new CrabError('cancelled', describeClosing(by)))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const closing of this.#open.values()) closing.abort(new CrabError('cancelled', ''))
    await this.#questions.settled()
  }

  async #ask(ask: AskUserEvent, agent: string, signal: AbortSignal): Promise<void> {
    try {
      const reply = await this.#runDialog(ask, agent, signal)
      this.#open.delete(ask.askId)
      await this.#options.reply(ask.askId, reply)
    } catch (reason) {
      const error = toCrabError(reason)
      if (error.kind === 'missing') this.#options.host.stderr.write(TOO_LATE)
      else if (!signal.aborted) this.#options.fail(error)
    } finally {
      this.#open.delete(ask.askId)
    }
  }

  async #runDialog(ask: AskUserEvent, agent: string, signal: AbortSignal): Promise<DialogReply> {
    const { host, color } = this.#options
    using terminal = host.terminal()
    if (!terminal) throw new CrabError('denied', 'Cannot ask: the terminal is gone')
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
      output.write(formatClosing(signal))
      throw reason
    } finally {
      await output.flush()
    }
  }

  /** Waits for the terminal. A home that cannot be written to must not prevent the user from answering. */
  async #acquireTerminal(
    { name, output }: Terminal,
    signal: AbortSignal,
  ): Promise<AsyncDisposable | undefined> {
    const timer = setTimeout(() => output.write(WAITING), WAIT_NOTICE_MS)
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

/** Flushes pending output, then holds back further output of this process to the terminal. */
async function holdOutput({ stdout, stderr }: Host): Promise<Disposable> {
  const shared = [stdout, stderr].filter((output) => output.isTerminal)
  await Promise.all(shared.map((output) => output.flush()))
  const holds = new DisposableStack()
  for (const output of shared) holds.use(output.hold())
  return holds
}

/** Begins with a line break, because the cursor is after the prompt of the other process. */
const WAITING = '\ncrabtalk: waiting for another crabtalk to be answered on this terminal\n'
const WAIT_NOTICE_MS = 2_000
const TOO_LATE = 'crabtalk: the answer came too late: the question is already closed\n'

function formatClosing(signal: AbortSignal): string {
  const words = toCrabError(signal.reason).message
  return words === '' ? '\n' : `\ncrabtalk: the question is closed: ${words}\n`
}

/** Describes why a question was closed; empty when the run has ended, which needs no explanation. */
function describeClosing(by: string): string {
  if (by === 'timeout') return 'no answer came in time'
  return parseErrorKind(by) === undefined ? 'it was answered elsewhere' : ''
}
