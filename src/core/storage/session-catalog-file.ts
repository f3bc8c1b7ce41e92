import { readFile } from 'node:fs/promises'
import { replaceFile } from '../base/files.ts'
import type { SessionDigest } from './session-digest.ts'
import type { FileStamp } from './session-reader.ts'

/** The digest of a session file, and the state of the file it was made from. */
export interface CatalogEntry {
  stamp: FileStamp
  digest: SessionDigest
}

/**
 * Loads the saved entries by session id; an empty map when there is no file, or when it is not exactly in
 * this format.
 */
export async function loadCatalog(path: string): Promise<Map<string, CatalogEntry>> {
  try {
    const bytes = await readFile(path)
    const start = bytes.indexOf('\n') + 1
    const body = bytes.subarray(start)
    if (bytes.toString('latin1', 0, start) !== (await toSeal(body))) return new Map()
    const rows: Row[] = JSON.parse(new TextDecoder().decode(body))
    return new Map(rows.map(toEntry))
  } catch {
    return new Map() // rebuilt from the sessions; reading those reports disk errors
  }
}

/** Replaces the saved entries. Throws `storage`. */
export async function saveCatalog(path: string, entries: Iterable<CatalogEntry>): Promise<void> {
  const body = Buffer.from(JSON.stringify(Array.from(entries, toRow)))
  await replaceFile(path, Buffer.concat([Buffer.from(await toSeal(body)), body]))
}

/** An entry as a flat array, which parses in a third of the time of nested objects. */
type Row = [
  ...stamp: [size: number, mtimeMs: number, ino: number],
  ...cursor: [bytes: number, seq: number],
  activatedAt: string,
  ...names: [id: string, agent: string, agentId: string, sender: string, cwd: string],
  ...texts: [title: string, summary: string, preview: string, model: string, effort: string],
  ...times: [createdAt: string, updatedAt: string],
  ...counts: [messageCount: number, archiveCount: number],
  forkedFrom: string | null,
]

function toRow({ stamp, digest: { summary, cursor, activatedAt } }: CatalogEntry): Row {
  const { id, agent, agentId, sender, cwd, title, summary: text } = summary
  const { preview, model, effort, createdAt, updatedAt, messageCount, archiveCount, forkedFrom } = summary
  const read = [stamp.size, stamp.mtimeMs, stamp.ino, cursor.bytes, cursor.seq, activatedAt] as const
  const stats = [createdAt, updatedAt, messageCount, archiveCount, forkedFrom ?? null] as const
  const texts = [title, text, preview, model, effort] as const
  return [...read, id, agent, agentId, sender, cwd, ...texts, ...stats]
}

function toEntry(row: Row): [string, CatalogEntry] {
  const [size, mtimeMs, ino, bytes, seq, activatedAt, id, agent, agentId, sender, cwd, ...stats] = row
  const [title, summary, preview, model, effort, ...rest] = stats
  const [createdAt, updatedAt, messageCount, archiveCount, forkedFrom] = rest
  return [
    id,
    {
      stamp: { size, mtimeMs, ino },
      digest: {
        cursor: { bytes, seq },
        activatedAt,
        summary: {
          ...{ id, agent, agentId, sender, cwd, title, summary, preview, model, effort },
          ...{ createdAt, updatedAt, messageCount, archiveCount },
          forkedFrom: forkedFrom ?? undefined,
        },
      },
    },
  ]
}

/** Returns the first line: the format, and a hash of the bytes that follow. */
async function toSeal(body: Uint8Array): Promise<string> {
  const { hash } = await import('node:crypto') // slow to load, and only listings need it
  return `crabtalk sessions 5 ${hash('sha1', body, 'hex')}\n`
}
