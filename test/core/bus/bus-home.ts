import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { EventBus, type EventBusOptions } from '../../../src/core/bus/event-bus.ts'
import { EventTrace } from '../../../src/core/bus/event-trace.ts'
import { SubscriptionStore } from '../../../src/core/bus/subscription-store.ts'
import { SqliteLeases } from '../../../src/core/lease/sqlite-leases.ts'

/** Opens the subscriptions of a home for any number of stores, each with its own leases as a process has. */
export interface BusHome extends AsyncDisposable {
  readonly file: string
  open(): SubscriptionStore
  write(text: string): Promise<void>
  read(): Promise<string>
}

export function busHome(folder: string): BusHome {
  const file = join(folder, 'events', 'subscriptions.toml')
  const leases: SqliteLeases[] = []
  return {
    file,
    open() {
      const run = join(folder, 'run')
      const own = new SqliteLeases({ database: join(run, 'leases.db'), proc: join(run, 'proc') })
      leases.push(own)
      return new SubscriptionStore({ path: file, lock: (name, signal) => own.take(name, signal) })
    },
    async write(text) {
      await mkdir(dirname(file), { recursive: true })
      await writeFile(file, text)
    },
    read: () => readFile(file, 'utf8'),
    async [Symbol.asyncDispose]() {
      for (const own of leases) await own[Symbol.asyncDispose]()
    },
  }
}

/** Opens a bus over a store, with sequential ids; `fire` does nothing by default. */
export function openTestBus(store: SubscriptionStore, more: Partial<EventBusOptions> = {}) {
  const trace = new EventTrace()
  let count = 0
  const options: EventBusOptions = {
    store,
    trace,
    fire: async () => {},
    published() {},
    log() {},
    shutdown: new AbortController().signal,
    now: () => 0,
    newId: () => `01BX5ZZKBK${String(++count).padStart(16, '0')}`,
    ...more,
  }
  return { trace, bus: new EventBus(options) }
}
