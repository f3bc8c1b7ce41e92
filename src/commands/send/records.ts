import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import * as z from 'zod/mini'
import { CrabError } from '../../core/base/errors.ts'
import type { Dispatch } from '../../core/protocol/dispatch.ts'
import { attach } from '../../daemon/attach.ts'
import { wantsColor } from '../color.ts'
import { formatError } from '../error-text.ts'
import type { Host } from '../host.ts'
import { newRecord, outcomeOf, runTurn } from './run.ts'
import type { SendSettings, Target } from './settings.ts'
import { Stop } from './stop.ts'
import { streamJsonSink } from './stream-json-sink.ts'

/** What a program may write to `send --input stream-json`, one JSON object a line. */
export const InputRecord = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('user'), content: z.string().check(z.minLength(1)) }),
  z.strictObject({ type: z.literal('cancel') }),
])

/**
 * Runs as a co-process: each `user` record is a turn of one conversation, in order; `cancel` ends the running one.
 *
 * Gives 0 when every turn was answered, else the exit code of the last one that was not.
 */
export async function runRecords(at: {
  settings: SendSettings
  host: Host
  debug: boolean
}): Promise<number> {
  await using attached = await attach(at.host)
  const session = new RecordSession({ ...at, dispatch: attached.dispatch })
  let number = 0
  for await (const line of createInterface({ input: Readable.from(at.host.stdin()) })) {
    number++
    if (line.trim() !== '') session.take(parseRecord(line, number))
    if (session.isOver) break
  }
  return session.end()
}

class RecordSession {
  readonly #at: { settings: SendSettings; host: Host; debug: boolean; dispatch: Dispatch }
  #target: Target
  #running: Stop | undefined
  #turns = Promise.resolve()
  #exit = 0
  #isOver = false

  constructor(at: { settings: SendSettings; host: Host; debug: boolean; dispatch: Dispatch }) {
    this.#at = at
    this.#target = at.settings.target
  }

  /** A signal or a reader that went away ended it. */
  get isOver(): boolean {
    return this.#isOver
  }

  take(record: z.infer<typeof InputRecord>): void {
    if (record.type === 'cancel') this.#running?.cancel()
    else this.#turns = this.#turns.then(() => this.#turn(record.content))
  }

  async end(): Promise<number> {
    await this.#turns
    return this.#exit
  }

  async #turn(content: string): Promise<void> {
    if (this.#isOver) return
    const { host, dispatch, debug } = this.#at
    const settings = { ...this.#at.settings, target: this.#target }
    using stop = new Stop({ host, ...settings })
    this.#running = stop
    const record = newRecord(settings)
    const sink = streamJsonSink({ stdout: host.stdout, now: () => performance.now() })
    const input = { content, attachments: [] }
    const outcome = await outcomeOf(record, settings, () =>
      runTurn({ settings, host, stop, sink, record, input, dispatch }),
    )
    if (record.sender !== '') this.#target = { kind: 'named', sender: record.sender }
    this.#isOver = stop.exit !== undefined
    const exit = stop.exit ?? outcome.exit
    if (exit !== 0) this.#exit = exit
    await sink.finish(record, { ...outcome, exit })
    if (outcome.error && !this.#isOver)
      host.stderr.write(
        formatError(outcome.error, { debug, color: wantsColor(settings.color, host.env, host.stderr) }),
      )
    this.#running = undefined
  }
}

function parseRecord(line: string, number: number): z.infer<typeof InputRecord> {
  const hint = 'write {"type":"user","content":"…"} or {"type":"cancel"}, one a line'
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
