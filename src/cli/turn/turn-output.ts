import type { WireTurnEvent } from '../../core/protocol/turn-fold.ts'
import type { Host } from '../host.ts'
import { Commentary } from './commentary.ts'
import type { RunRecord } from './record.ts'
import type { Sink } from './sink.ts'

/** The settings of a turn's output. */
interface TurnOutputOptions {
  host: Host
  sink: Sink
  record: RunRecord
  verbosity: number
  thinking: boolean
  /** Whether to show a status line when standard error is a terminal. */
  status: boolean
}

/** The events whose text goes to standard output as it arrives. */
const TEXT_EVENTS: ReadonlySet<string> = new Set(['textStart', 'chunk', 'textEnd'])

/**
 * Shows the events of a turn as answer and commentary; if both go to one terminal, each is flushed before the
 * other is written.
 */
export class TurnOutput implements Disposable {
  readonly #options: TurnOutputOptions
  readonly #commentary: Commentary
  readonly #sharesTerminal: boolean

  constructor(options: TurnOutputOptions) {
    const { host, verbosity, thinking, status } = options
    const { stdout, stderr, columns } = host
    const term = host.env['TERM']
    this.#options = options
    this.#commentary = new Commentary({ stderr, verbosity, thinking, status, term, columns })
    this.#sharesTerminal = stdout.isTerminal && stderr.isTerminal
  }

  async show(event: WireTurnEvent): Promise<void> {
    const { host, sink, record } = this.#options
    if (TEXT_EVENTS.has(event.$case)) this.#commentary.clear()
    if (this.#sharesTerminal) await host.stderr.flush()
    await sink.event(event, record)
    if (this.#sharesTerminal) await host.stdout.flush()
    this.#commentary.event(event)
  }

  [Symbol.dispose](): void {
    this.#commentary[Symbol.dispose]()
  }
}
