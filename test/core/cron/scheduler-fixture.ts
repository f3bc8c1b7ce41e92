import { CrabError } from '../../../src/core/base/errors.ts'
import type { Log } from '../../../src/core/base/log.ts'
import type { CronEntry } from '../../../src/core/cron/cron-entry.ts'
import { CronFile } from '../../../src/core/cron/cron-file.ts'
import {
  type CronState,
  EMPTY_CRON_STATE,
  type EntryState,
  type FiredTurn,
} from '../../../src/core/cron/cron-state.ts'
import { Scheduler, type SchedulerOptions } from '../../../src/core/cron/scheduler.ts'
import { MemoryLeases } from '../../../src/core/lease/memory-leases.ts'
import { temporaryHome } from '../../support/temporary-home.ts'
import { until } from '../../support/until.ts'

/** A turn that an entry started; it runs until the test ends it. */
export interface Turn {
  entry: CronEntry
  signal: AbortSignal
  ends(): void
  fails(message: string): void
}

/** A scheduler over a real file, whose turns are controlled by the test. */
export interface SchedulerFixture extends AsyncDisposable {
  readonly scheduler: Scheduler
  readonly file: CronFile
  /** Every turn that started, oldest first. */
  readonly turns: readonly Turn[]
  readonly lines: readonly string[]
  readonly saved: readonly CronState[]
  /** The offset of its clock from the real one, in milliseconds. */
  ahead: number
  /** Writes the file and has it read. */
  write(text: string): Promise<void>
  read(): Promise<string>
  /** Returns the current state of an entry. */
  entry(id: number): EntryState
  /** Waits until this many turns have started. */
  begun(count: number): Promise<void>
}

const DONE: FiredTurn = { run: 'run', session: 'session' }

export async function makeScheduler(
  text: string,
  more: Partial<SchedulerOptions> & { answers?: 'at once' } = {},
): Promise<SchedulerFixture> {
  const home = await temporaryHome()
  const leases = new MemoryLeases()
  const [turns, lines, saved]: [Turn[], string[], CronState[]] = [[], [], []]
  const log: Log = (level, message) => lines.push(`${level} ${message}`)
  const fire: SchedulerOptions['fire'] = (entry, signal) => {
    const gate = Promise.withResolvers<FiredTurn>()
    const cancel = () => gate.reject(signal.reason)
    signal.addEventListener('abort', cancel)
    const fails = (message: string) => gate.reject(new CrabError('missing', message))
    turns.push({ entry, signal, ends: () => gate.resolve(DONE), fails })
    if (more.answers) gate.resolve(DONE)
    return gate.promise
  }
  const file = new CronFile({ path: home.paths.crons, lock: (name, signal) => leases.take(name, signal) })
  const stage = { ahead: 0 }
  const scheduler = new Scheduler({
    file,
    state: EMPTY_CRON_STATE,
    fire,
    save: async (state) => void saved.push(state),
    log,
    now: () => Date.now() + stage.ahead,
    elapsed: () => performance.now(),
    ...more,
  })
  const write = async (content: string) => {
    await home.write('config/crons.toml', content)
    await scheduler.reconcile()
  }
  await write(text)
  return Object.assign(stage, {
    ...{ scheduler, file, turns, lines, saved, write },
    read: () => home.read('config/crons.toml'),
    entry: (id: number) => scheduler.state.entries.find((one) => one.id === id)!,
    begun: (count: number) => until(`${count} turns have begun`, () => turns.length >= count),
    async [Symbol.asyncDispose]() {
      await scheduler.end(0)
      await home[Symbol.asyncDispose]()
    },
  })
}
