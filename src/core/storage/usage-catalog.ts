import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate as breathe } from 'node:timers/promises'
import { replaceFile } from '../base/files.ts'
import { toLocalDay } from '../base/format.ts'
import { addUsage, NO_USAGE, type Usage } from '../base/message.ts'
import type { SessionFolder } from './session-folder.ts'
import { readSessionParts } from './session-parts.ts'
import type { FileStamp } from './session-reader.ts'
import type { ReadPosition, SessionHeader, SessionLine } from './types.ts'

/** The tokens that the turns of one day took with one model, of an agent in a directory. */
export interface StoredUsage {
  /** A day in the time zone of this machine: `2026-03-01`. */
  day: string
  model: string
  /** The agent's name when the conversation began. */
  agent: string
  /** The working directory of the conversation. */
  cwd: string
  turns: number
  usage: Usage
}

/** The usage in a session file, and the state of the file that it was read from. */
interface UsageEntry {
  stamp: FileStamp
  cursor: ReadPosition
  header: Pick<SessionHeader, 'agent' | 'cwd'>
  days: readonly DayUsage[]
}

type DayUsage = Pick<StoredUsage, 'day' | 'model' | 'turns' | 'usage'>

/**
 * A catalog of the usage in all sessions, saved so that only changed files are read again. An entry is valid while its
 * file has the size, time and inode it was read with. When saving fails, the catalog stays unsaved.
 */
export class UsageCatalog {
  readonly #folder: SessionFolder
  readonly #path: string
  #entries: Promise<Map<string, UsageEntry>> | undefined

  constructor({ folder, index }: { folder: SessionFolder; index: string }) {
    this.#folder = folder
    this.#path = join(index, 'usage.json')
  }

  /** Returns the usage of all sessions; sessions that cannot be read are left out. */
  async rows(): Promise<StoredUsage[]> {
    this.#entries ??= loadEntries(this.#path)
    const entries = await this.#entries
    const ids = await this.#folder.refresh()
    let cost = 0
    let unsaved = 0
    for (const id of ids) {
      const bytes = this.#update(entries, id)
      unsaved += bytes
      cost += bytes + COST_OF_STAMP
      if (cost < SLICE) continue
      cost = 0
      await breathe() // lets a daemon serve its streams meanwhile
    }
    const live = new Set(ids)
    for (const id of entries.keys()) if (!live.has(id)) entries.delete(id)
    if (unsaved > WORTH_SAVING) await saveEntries(this.#path, entries)
    return sumRows(entries.values())
  }

  /** Reads a file again if it has changed, only its end if it only grew; returns the number of bytes read. */
  #update(entries: Map<string, UsageEntry>, id: string): number {
    const stamp = this.#folder.stamp(id)
    const known = entries.get(id)
    if (stamp && known && isSame(stamp, known.stamp)) return 0
    const grown = stamp && known && stamp.ino === known.stamp.ino && stamp.size > known.stamp.size
    try {
      const entry = readEntry(this.#folder.file(id), grown ? known : undefined)
      if (entry) entries.set(id, entry)
      return (entry?.cursor.bytes ?? 0) - (grown ? known.cursor.bytes : 0)
    } catch {
      entries.delete(id) // deleted meanwhile, or unreadable: reading the session reports why
      return 0
    }
  }
}

function isSame(one: FileStamp, other: FileStamp): boolean {
  return one.size === other.size && one.mtimeMs === other.mtimeMs && one.ino === other.ino
}

function readEntry(path: string, before: UsageEntry | undefined): UsageEntry | undefined {
  let entry = before
  for (const { part, stamp } of readSessionParts(path, before?.cursor)) {
    const days = part.whole ? [] : (entry?.days ?? [])
    const { agent, cwd, created_at } = part.header
    // a copy of a session begins with turns that its source has counted
    const lines = part.lines.filter((line) => line.ts >= created_at)
    entry = { stamp, cursor: part.cursor, header: { agent, cwd }, days: lines.reduce(addLine, days) }
  }
  return entry
}

function addLine(days: readonly DayUsage[], line: SessionLine): readonly DayUsage[] {
  if (line.kind !== 'event' || line.event !== 'done') return days
  const { model, usage = NO_USAGE, ts } = line
  const day = toLocalDay(new Date(ts))
  const at = days.findLastIndex((one) => one.day === day && one.model === model)
  const before = days[at]
  if (!before) return [...days, { day, model, turns: 1, usage: { ...NO_USAGE, ...usage } }]
  return days.with(at, { ...before, turns: before.turns + 1, usage: addUsage(before.usage, usage) })
}

function sumRows(entries: Iterable<UsageEntry>): StoredUsage[] {
  const rows = new Map<string, StoredUsage>()
  for (const { header, days } of entries) {
    for (const one of days) {
      const key = JSON.stringify([one.day, one.model, header.agent, header.cwd])
      const row = rows.get(key)
      const sum = row
        ? { ...row, turns: row.turns + one.turns, usage: addUsage(row.usage, one.usage) }
        : { ...one, ...header }
      rows.set(key, sum)
    }
  }
  return [...rows.values()]
}

/** Loads the saved entries; an empty map when there are none of this format. */
async function loadEntries(path: string): Promise<Map<string, UsageEntry>> {
  try {
    const { format, entries } = JSON.parse(await readFile(path, 'utf8'))
    return format === FORMAT ? new Map(entries) : new Map()
  } catch {
    return new Map() // rebuilt from the sessions; reading those reports disk errors
  }
}

async function saveEntries(path: string, entries: ReadonlyMap<string, UsageEntry>): Promise<void> {
  try {
    await replaceFile(path, JSON.stringify({ format: FORMAT, entries: [...entries] }))
  } catch {
    // Saving only makes the next report faster, so a failure is ignored.
  }
}

const FORMAT = 'crabtalk usage 1'
/** The number of bytes read before yielding to other work. */
const SLICE = 256 * 1024
/** The cost of a stat, in bytes that could be read in the same time. */
const COST_OF_STAMP = 1024
/** The number of read bytes from which saving the catalog pays off. */
const WORTH_SAVING = 64 * 1024
