import { join } from 'node:path'
import { SqliteLeases } from '../../../src/core/lease/sqlite-leases.ts'
import { MemoryStore } from '../../../src/core/memory/memory-store.ts'

/**
 * Writes COUNT notes into the memory of crab, and prints the name of each that is durable: `HOME NAME COUNT`.
 */
const [home = '', name = '', count = '0'] = process.argv.slice(2)
const run = join(home, 'run')
await using leases = new SqliteLeases({ database: join(run, 'leases.db'), proc: join(run, 'proc') })
const store = new MemoryStore({
  folder: join(home, 'memory'),
  lock: (resource, signal) => leases.take(resource, signal),
  now: Date.now,
})
for (let index = 0; index < Number(count); index++) {
  const entry = { createdAt: 1n, kind: 'note', name: `${name} ${index}`, content: '', aliases: [] } as const
  await store.apply('crab', { op: 'add', ...entry }, new AbortController().signal)
  process.stdout.write(`${entry.name}\n`)
}
