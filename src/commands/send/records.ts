import * as z from 'zod/mini'
import { wantsColor } from '../../cli/color.ts'
import { formatError } from '../../cli/error-text.ts'
import type { Host, SignalName } from '../../cli/host.ts'
import { readLines } from '../../cli/read-lines.ts'
import { SIGNAL_EXIT, StopController } from '../../cli/stop-controller.ts'
import { formatDenials } from '../../cli/turn/denials.ts'
import type { RunRecord } from '../../cli/turn/record.ts'
import type { Sink } from '../../cli/turn/sink.ts'
import { streamJsonSink } from '../../cli/turn/stream-json-sink.ts'
import { CrabError, toCrabError } from '../../core/base/errors.ts'
import { sanitize } from '../../core/base/sanitize.ts'
import { Serial } from '../../core/base/serial.ts'
import { request } from '../../core/protocol/dispatch.ts'
import { type Attached, attach } from '../../daemon/attach.ts'
import { checkSize } from './input.ts'
import { newRunRecord, runToOutcome, sendAndFollow } from './run.ts'
import { daemonFor, type SendSettings } from './settings.ts'

/** The records that a program may write to `send --input stream-json`, one JSON object per line. */
const InputRecord = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('user'), content: z.string().check(z.minLength(1)) }),
  z.strictObject({ type: z.literal('cancel') }),
  z.strictObject({
    type: z.literal('answer'),
    ask: z.string().check(z.minLength(1)),
    content: z.record(z.string(), z.string()),
  }),
])

/**
 * Runs as a coprocess: each `user` record is a turn of one conversation, in order; `cancel` cancels the
 * running turn, and `answer` answers a question of it.
 *
 * Returns 0 when every turn was answered, else the exit code of the last one that was not. Throws `invalid`
 * for an invalid record, after the turns requested before it have ended.
 */
export async function runRecords(at: {
  program: string
  settings: SendSettings
  host: Host
  debug: boolean
}): Promise<number> {
  await using attached = await attach(at.host, { daemon: daemonFor(at.settings) })
  const stdin = at.host.stdin()
  const session = new RecordSession({ ...at, attached, onOver: () => stdin.destroy() })
  using _listening = at.host.onSignal((name) => session.onSignal(name))
  let number = 0
  try {
    for await (const line of readLines(stdin)) {
      number++
      if (line.trim() !== '') session.take(parseRecord(line, number))
    }
  } catch (reason) {
    if (!session.isOver) throw reason // otherwise the error comes from closing the input
  } finally {
    await session.end()
  }
  return session.exit
}

interface SessionOptions {
  program: string
  settings: SendSettings
  host: Host
  debug: boolean
  attached: Attached
  /** Called when no more input will be read. */
  onOver(): void
}

class RecordSession {
  readonly #options: SessionOptions
  #settings: SendSettings
  /** One for each requested turn that has not ended; a `cancel` record aborts the first. */
  readonly #pendingTurns: AbortController[] = []
  /** Aborted when the input has ended. */
  readonly #inputEnd = new AbortController()
  readonly #turns = new Serial()
  readonly #answers = new Serial()
  /** The lines about unused servers that were printed. */
  readonly #reported = new Set<string>()
  /** The running turn. */
  #turn: { record: RunRecord; sink: Sink } | undefined
  #failure: CrabError | undefined
  #exit = 0
  #isOver = false

  constructor(options: SessionOptions) {
    this.#options = options
    this.#settings = options.settings
  }

  /** Whether a signal, a reader that went away or an output that cannot be written ended the session. */
  get isOver(): boolean {
    return this.#isOver
  }

  get exit(): number {
    return this.#exit
  }

  take(record: z.infer<typeof InputRecord>): void {
    if (record.type === 'cancel') {
      this.#pendingTurns[0]?.abort(new CrabError('cancelled', 'Cancelled by the client'))
      return
    }
    if (record.type === 'answer') {
      void this.#answers.run(() => this.#answer(record))
      return
    }
    const turn = new AbortController()
    this.#pendingTurns.push(turn)
    void this.#turns.run(() =>
      this.#runTurn(record.content, turn.signal).catch((reason) => this.#fail(reason)),
    )
  }

  onSignal(name: SignalName): void {
    this.#over(SIGNAL_EXIT[name])
  }

  /** Waits for the requested turns. Throws when their output could not be written. */
  async end(): Promise<void> {
    await this.#answers.settled()
    this.#inputEnd.abort(new CrabError('denied', 'Cannot ask: the input has ended, and no one else answers'))
    await this.#turns.settled()
    if (this.#failure) throw this.#failure
  }

  /** Sends an answer. One that is too late, or does not fit its question, is reported but stops nothing. */
  async #answer({ ask, content }: { ask: string; content: Record<string, string> }): Promise<void> {
    const { agent = '', sender = '' } = this.#turn?.record ?? {}
    const reply = { agent, sender, askId: ask, content: JSON.stringify(content) }
    try {
      await request(this.#options.attached.dispatch, 'replyToAsk', reply, this.#inputEnd.signal)
    } catch (reason) {
      const { message } = toCrabError(reason)
      const notice = {
        $case: 'notice',
        value: { message: `The answer to ${ask} was not accepted: ${message}`, server: '', passing: false },
      } as const
      if (this.#turn) await this.#turn.sink.event(notice, this.#turn.record)
      else this.#options.host.stderr.write(`crabtalk: ${sanitize(notice.value.message)}\n`)
    }
  }

  async #runTurn(content: string, signal: AbortSignal): Promise<void> {
    if (this.#isOver) return
    const { host, attached } = this.#options
    const settings = this.#settings
    using stop = new StopController({ host, ...settings, signal })
    const record = newRunRecord(settings)
    const sink = streamJsonSink({ stdout: host.stdout, now: () => performance.now() })
    const input = { content, attachments: [] }
    const client = this.#inputEnd.signal
    this.#turn = { record, sink }
    const outcome = await runToOutcome(record, settings, async () => {
      checkSize(input, settings)
      const run = { settings, host, stop, sink, record, input, attached, client, reported: this.#reported }
      await sendAndFollow(run)
    })
    this.#turn = undefined
    this.#pendingTurns.shift()?.abort()
    if (record.sender !== '') this.#continue(record.sender)
    if (stop.exit !== undefined) this.#over(stop.exit)
    const exit = stop.exit ?? outcome.exit
    if (exit !== 0) this.#exit = exit
    await sink.finish(record, { ...outcome, exit })
    if (stop.exit === undefined) host.stderr.write(formatDenials(record.unattendedDenials, record.sender))
    if (outcome.error && outcome.error.kind !== 'cancelled') this.#printError(outcome.error)
  }

  /** Makes the next turn belong to the same conversation. */
  #continue(sender: string): void {
    this.#settings = { ...this.#settings, target: { kind: 'named', sender }, fork: false }
  }

  #printError(error: CrabError): void {
    const { program, host, debug } = this.#options
    const color = wantsColor(this.#settings.color, host.env, host.stderr)
    host.stderr.write(formatError(error, { program, debug, color }))
  }

  #fail(reason: unknown): void {
    this.#failure ??= toCrabError(reason)
    this.#over(this.#exit)
  }

  #over(exit: number): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#exit = exit
    this.#options.onOver()
  }
}

function parseRecord(line: string, number: number): z.infer<typeof InputRecord> {
  const hint =
    'write {"type":"user","content":"…"}, {"type":"cancel"} or {"type":"answer","ask":"…","content":{"…":"…"}}, one per line'
  try {
    const parsed = InputRecord.safeParse(JSON.parse(line))
    if (parsed.success) return parsed.data
    const problem = parsed.error.issues[0]
    throw new CrabError(
      'invalid',
      `Cannot use record ${number}: ${problem?.path.join('.')}: ${problem?.message}`,
      { hint },
    )
  } catch (cause) {
    if (cause instanceof CrabError) throw cause
    throw new CrabError('invalid', `Cannot read record ${number}: ${(cause as Error).message}`, {
      cause,
      hint,
    })
  }
}
