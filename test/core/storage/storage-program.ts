import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { SqliteLeases } from '../../../src/core/lease/sqlite-leases.ts'
import { DiskStorage } from '../../../src/core/storage/disk-storage.ts'
import { makeHeader, toLine } from './samples.ts'

/** Writes sessions: `append HOME ID NAME COUNT` under the turn lease, or `fill HOME` until it may not. */
const [act, home = '', ...rest] = process.argv.slice(2)
const storage = new DiskStorage({ sessions: join(home, 'sessions'), index: join(home, 'index') })
if (act === 'append') await append(rest[0]!, rest[1]!, Number(rest[2]))
else await fill()

async function append(id: string, name: string, count: number): Promise<void> {
  await using leases = new SqliteLeases({ database: join(home, 'leases.db'), proc: join(home, 'proc') })
  let since: Awaited<ReturnType<typeof storage.append>> | undefined
  for (let index = 0; index < count; index += 1) {
    await using _turn = await leases.take(`turn:${id}`, new AbortController().signal)
    const { cursor } = await storage.read(id, since)
    since = await storage.append(id, cursor, [toLine(`${name} ${index}`), toLine('answer', 'assistant')])
  }
}

/**
 * Prints the session, how writing ended, and whether the file holds the acknowledged lines, byte for byte.
 */
async function fill(): Promise<void> {
  const { id, cursor } = await storage.createSession(makeHeader(), [toLine('first')])
  const file = join(home, 'sessions', `${id}.jsonl`)
  let end = cursor
  for (;;) {
    const before = readFileSync(file)
    try {
      end = await storage.append(id, end, [toLine('x'.repeat(700))])
    } catch (reason) {
      const { kind } = reason as { kind?: string }
      process.stdout.write(JSON.stringify({ id, end, kind, isUnchanged: before.equals(readFileSync(file)) }))
      return
    }
  }
}
