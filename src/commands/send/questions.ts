import type { TerminalPrompter } from '../../cli/ask/terminal-prompter.ts'
import { shortId } from '../../cli/find-conversation.ts'
import type { Host } from '../../cli/host.ts'
import type { StopController } from '../../cli/stop-controller.ts'
import type { RunRecord } from '../../cli/turn/record.ts'
import { toCancelledError } from '../../core/base/abortable.ts'
import type { CrabError } from '../../core/base/errors.ts'
import { toVisible } from '../../core/base/visible.ts'
import type { AskUserEvent } from '../../core/protocol/crabtalk.generated.ts'
import { request } from '../../core/protocol/dispatch.ts'
import { OpenAsks } from '../../core/protocol/open-asks.ts'
import type { WireTurnEvent } from '../../core/protocol/turn-fold.ts'
import type { Attached } from '../../daemon/attach.ts'
import type { SendSettings } from './settings.ts'

/** A turn that may ask questions. */
export interface QuestionedRun {
  settings: SendSettings
  host: Host
  stop: StopController
  record: RunRecord
  attached: Pick<Attached, 'dispatch' | 'lease'>
  /** Aborted when a client that is asked can no longer answer. */
  client?: AbortSignal
}

/**
 * Handles the questions of one turn, and asks the user at the terminal if the settings say so.
 *
 * The code for asking is loaded with the first question. While a question is pending, time limits are paused.
 */
export class Questions implements AsyncDisposable {
  readonly #run: QuestionedRun
  readonly #over = new AbortController()
  readonly #open = new OpenAsks()
  #asker: TerminalPrompter | undefined

  constructor(run: QuestionedRun) {
    this.#run = run
    run.client?.addEventListener('abort', this.#failUnanswered)
  }

  /** Aborted, with a CrabError that gives the reason, when the question can no longer be answered. */
  get signal(): AbortSignal {
    return this.#over.signal
  }

  async event(event: WireTurnEvent): Promise<void> {
    const { stop, record } = this.#run
    const isChanged = this.#open.apply(event)
    if (event.$case === 'askUser') {
      if (isChanged) stop.askOpened()
      await this.#printParked(event.value)
      this.#asker ??= await this.#makeAsker()
      this.#asker?.enqueue(event.value, record.agent)
      this.#failUnanswered()
    }
    if (event.$case === 'askClosed') {
      if (isChanged) stop.askClosed()
      this.#asker?.close(event.value)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#run.client?.removeEventListener('abort', this.#failUnanswered)
    await this.#asker?.[Symbol.asyncDispose]()
  }

  readonly #failUnanswered = () => {
    const { settings, client } = this.#run
    if (settings.onAsk !== 'client' || !client?.aborted || this.#open.size === 0) return
    this.#over.abort(toCancelledError(client))
  }

  /**
   * Prints a parked question, so that the user who waits for the answer of the turn knows what it waits for.
   */
  async #printParked(ask: AskUserEvent): Promise<void> {
    const { settings, host, record } = this.#run
    if (settings.onAsk !== 'park' || settings.verbosity < 0) return
    const { formatAskLine } = await import('../../cli/ask/ask-line.ts')
    const who = toVisible(record.agent)
    const how = `crabtalk answer ${shortId(ask.askId)}`
    host.stderr.write(`crabtalk: ${who} asks: ${formatAskLine(ask)}; answer with ${how}\n`)
  }

  async #makeAsker(): Promise<TerminalPrompter | undefined> {
    const { settings, host, record, attached } = this.#run
    if (settings.onAsk !== 'terminal') return undefined
    const { TerminalPrompter } = await import('../../cli/ask/terminal-prompter.ts')
    return new TerminalPrompter({
      host,
      color: settings.color,
      lease: attached.lease,
      fail: (error: CrabError) => this.#over.abort(error),
      reply: async (askId, { answers, ...changed }) => {
        const { agent, sender } = record
        const reply = { agent, sender, askId, content: JSON.stringify(answers), ...changed }
        await request(attached.dispatch, 'replyToAsk', reply, this.#run.stop.signal)
      },
    })
  }
}
