import { KINDS } from '../../core/base/errors.ts'
import type { AskInfo, AttachState, SessionMessage } from '../../core/protocol/crabtalk.generated.ts'
import { toJsonMessage } from '../conversation/messages.ts'
import type { Output } from '../output.ts'
import { judge, RunRecord } from '../send/record.ts'
import type { Outcome, Sink, TurnEvent } from '../send/sink.ts'
import { lineWriter, streamJsonSink, toAskOpened, type WriteLine } from '../send/stream-json-sink.ts'
import type { Address } from './target.ts'
import type { View } from './view.ts'

/** A conversation as JSON lines: those of `send --output stream-json`, with `conversation` and `message` between them. */
export class JsonView implements View {
  readonly #address: Address
  readonly #now: () => number
  readonly #write: WriteLine
  readonly #sink: Sink
  #record: RunRecord

  constructor({ stdout, address, now }: { stdout: Output; address: Address; now(): number }) {
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

  past(message: SessionMessage): Promise<void> | undefined {
    return this.#write(this.#newRecord(''), { type: 'message', message: toJsonMessage(message) })
  }

  said(message: SessionMessage): Promise<void> | undefined {
    return this.past(message)
  }

  waiting({ ask }: AskInfo): Promise<void> | undefined {
    return ask && this.#write(this.#record, toAskOpened(ask))
  }

  event(event: TurnEvent): Promise<void> | undefined {
    if (event.$case === 'start' && event.value.runId !== this.#record.run) {
      this.#record = this.#newRecord(event.value.runId)
    }
    this.#record.take(event, this.#now())
    if (event.$case === 'userSteered') {
      return this.#write(this.#record, { type: 'steered', text: event.value.content })
    }
    return event.$case === 'end' ? this.#finish() : this.#sink.event(event, this.#record)
  }

  #finish(): Promise<void> {
    const error = judge(this.#record, { failOnToolError: false })
    const outcome: Outcome = { exit: error ? KINDS[error.kind].exit : 0, error, structured: undefined }
    return this.#sink.finish(this.#record, outcome)
  }

  #newRecord(run: string): RunRecord {
    const record = new RunRecord({ startedAt: this.#now(), ...this.#address })
    record.run = run
    return record
  }
}
