import assert from 'node:assert/strict'
import { mkdtempDisposable, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { DiskStorage } from '../../../src/core/storage/disk-storage.ts'
import { SessionFolder } from '../../../src/core/storage/session-folder.ts'
import type { NewLine, SessionHeader } from '../../../src/core/storage/types.ts'
import { UsageCatalog } from '../../../src/core/storage/usage-catalog.ts'

const DAY = Date.UTC(2026, 2, 1, 12)
const usage = { input: 100, output: 10, cache_read: 50, cache_write: 0, reasoning: 1 }

test('UsageCatalog adds up turns by day, model, agent and directory, and a copy counts only its own turns', async () => {
  await using at = await openFolder()
  const one = await at.storage.createSession(header('crab', '/a', DAY), [done('big'), done('big')])
  at.clock.time = DAY + 48 * 3_600_000
  await at.storage.append(one.id, one.cursor, [done('small')])
  const copy = await at.storage.copySession(
    one.id,
    header('crab', '/a', at.clock.time + 1),
    Number.POSITIVE_INFINITY,
  )
  at.clock.time += 10
  const { cursor } = await at.storage.read(copy)
  await at.storage.append(copy, cursor, [done('big')])
  await at.storage.createSession(header('owl', '/b', at.clock.time), [done('big')])
  const rows = await at.catalog().rows()
  assert.deepEqual(
    rows
      .map(({ day, model, agent, cwd, turns, usage }) => [day, model, agent, cwd, turns, usage.input])
      .toSorted(),
    [
      ['2026-03-01', 'big', 'crab', '/a', 2, 200],
      ['2026-03-03', 'big', 'crab', '/a', 1, 100],
      ['2026-03-03', 'big', 'owl', '/b', 1, 100],
      ['2026-03-03', 'small', 'crab', '/a', 1, 100],
    ],
  )
})

test('UsageCatalog reads only what has changed, and a broken catalog again from the sessions', async () => {
  await using at = await openFolder()
  const many = Array.from({ length: 800 }, () => done('big'))
  const { id, cursor } = await at.storage.createSession(header('crab', '/a', DAY), many)
  const turns = async (catalog: UsageCatalog) => (await catalog.rows()).map((row) => row.turns)
  assert.deepEqual(await turns(at.catalog()), [800])
  const saved = join(at.index, 'usage.json')
  const text = await readFile(saved, 'utf8')
  await writeFile(saved, text.replace('"turns":800', '"turns":5')) // what is known is not read again
  assert.deepEqual(await turns(at.catalog()), [5])
  await at.storage.append(id, cursor, [done('big')])
  const catalog = at.catalog()
  assert.deepEqual(await turns(catalog), [6])
  assert.deepEqual(await turns(catalog), [6])
  await writeFile(saved, text.slice(0, 40))
  assert.deepEqual(await turns(at.catalog()), [801])
  await at.storage.deleteSession(id)
  assert.deepEqual(await turns(at.catalog()), [])
})

async function openFolder() {
  const folder = await mkdtempDisposable(join(tmpdir(), 'crab-usage-'))
  const [sessions, index] = [join(folder.path, 'sessions'), join(folder.path, 'index')]
  const clock = { time: DAY }
  return {
    clock,
    index,
    storage: new DiskStorage({ sessions, index, now: () => clock.time }),
    catalog: () => new UsageCatalog({ folder: new SessionFolder({ path: sessions }), index }),
    [Symbol.asyncDispose]: () => folder.remove(),
  }
}

function header(agent: string, cwd: string, at: number): SessionHeader {
  return { v: 1, agent, agent_id: agent, created_by: 'ann', created_at: new Date(at).toISOString(), cwd }
}

function done(model: string): NewLine {
  return { kind: 'event', event: 'done', model, usage, stop_reason: 'stop' }
}
