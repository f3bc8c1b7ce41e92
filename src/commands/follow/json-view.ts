import type { ConversationAddress } from '../../cli/conversation-address.ts'
import type { Output } from '../../cli/output.ts'
import { findRunFailure, RunRecord } from '../../cli/turn/record.ts'
import type { RunOutcome, Sink } from '../../cli/turn/sink.ts'
import { lineWriter, streamJsonSink, toAskOpened, type WriteLine } from '../../cli/turn/stream-json-sink.ts'
import { ERROR_KINDS } from '../../core/base/errors.ts'
import type { AskInfo, AttachState, SessionMessage } from '../../core/protocol/crabtalk.generated.ts'
import type { WireTurnEvent } from '../../core/protocol/turn-fold.ts'
import { toJsonMessage } from '../conversation/messages.ts'
import type { FollowView } from './view.ts'

/**
 * Prints a conversation as JSON lines: those of `send --output stream-json`, with `conversation` and
 * `message` between them.
 */
export class JsonView implements FollowView {
  readonly #address: ConversationAddress
  readonly #now: () => number
  readonly #write: WriteLine
  readonly #sink: Sink
  #record: RunRecord

  constructor({ stdout, address, now }: { stdout: Output; address: ConversationAddress; now(): number }) {
    this.#address = address
    this.#now = now
    this.#write = lineWriter({ stdout, now })
    this.#sink = streamJsonSink({ stdout, now, write: this.#write })
    this.#record = this.#newRecord('')
  }

  state({ session, runId }: AttachState): Promise<void> | undefined {
    if (runId !== '' && runId !== this.#record.run) this.#record = this.#newRecord(runId)
    const { agent, sender } = this.#address
    const line = { type: 'conversation', agent, sender, session: session?.id ?? '', running: runId !== '' }
    return this.#write(this.#record, line)
  }

  history(message: SessionMessage): Promise<void> | undefined {
    return this.#write(this.#newRecord(''), { type: 'message', message: toJsonMessage(message) })
  }

  userMessage(message: SessionMessage): Promise<void> | undefined {
    return this.history(message)
  }

  pendingAsk({ ask }: AskInfo): Promise<void> | undefined {
    return ask && this.#write(this.#record, toAskOpened(ask))
  }

  event(event: WireTurnEvent): Promise<void> | undefined {
    if (event.$case === 'start' && event.value.runId !== this.#record.run) {
      this.#record = this.#newRecord(event.value.runId)
    }
    this.#record.apply(event, this.#now())
    if (event.$case === 'userSteered') {
      return this.#write(this.#record, { type: 'steered', text: event.value.content })
    }
    return event.$case === 'end' ? this.#finish() : this.#sink.event(event, this.#record)
  }

  #finish(): Promise<void> {
    const error = findRunFailure(this.#record, { failOnToolError: false })
    const outcome: RunOutcome = {
      exit: error ? ERROR_KINDS[error.kind].exit : 0,
      error,
      structured: undefined,
    }
    return this.#sink.finish(this.#record, outcome)
  }

  #newRecord(run: string): RunRecord {
    const record = new RunRecord({ startedAt: this.#now(), ...this.#address })
    record.run = run
    return record
  }
}
