import { readFile } from 'node:fs/promises'
import { replaceFile } from '../base/files.ts'
import type { SessionDigest } from './session-digest.ts'
import type { FileStamp } from './session-reader.ts'

/** What the catalogue knows of one session file, and of which state of it. */
export interface CatalogEntry {
  stamp: FileStamp
  digest: SessionDigest
}

/** The saved entries by session id; none when there is no file, or when it is not exactly what this format wrote. */
export async function loadCatalog(path: string): Promise<Map<string, CatalogEntry>> {
  try {
    const bytes = await readFile(path)
    const start = bytes.indexOf('\n') + 1
    const body = bytes.subarray(start)
    if (bytes.toString('latin1', 0, start) !== (await toSeal(body))) return new Map()
    const rows: Row[] = JSON.parse(new TextDecoder().decode(body))
    return new Map(rows.map(toEntry))
  } catch {
    return new Map() // rebuilt from the sessions; what is wrong with the disk shows there
  }
}

/** Replaces the saved entries. Fails with `storage`. */
export async function saveCatalog(path: string, entries: Iterable<CatalogEntry>): Promise<void> {
  const body = Buffer.from(JSON.stringify(Array.from(entries, toRow)))
  await replaceFile(path, Buffer.concat([Buffer.from(await toSeal(body)), body]))
}

/** An entry as a flat array: parsed in a third of the time that objects in objects take. */
type Row = [
  ...stamp: [size: number, mtimeMs: number, ino: number],
  ...cursor: [bytes: number, seq: number],
  activatedAt: string,
  ...names: [id: string, agent: string, agentId: string, sender: string, cwd: string],
  ...texts: [title: string, summary: string, preview: string],
  ...times: [createdAt: string, updatedAt: string],
  ...counts: [messageCount: number, archiveCount: number],
  forkedFrom: string | null,
]

function toRow({ stamp, digest: { summary, cursor, activatedAt } }: CatalogEntry): Row {
  const { id, agent, agentId, sender, cwd, title, summary: text, preview } = summary
  const { createdAt, updatedAt, messageCount, archiveCount, forkedFrom } = summary
  const read = [stamp.size, stamp.mtimeMs, stamp.ino, cursor.bytes, cursor.seq, activatedAt] as const
  const told = [createdAt, updatedAt, messageCount, archiveCount, forkedFrom ?? null] as const
  return [...read, id, agent, agentId, sender, cwd, title, text, preview, ...told]
}

function toEntry(row: Row): [string, CatalogEntry] {
  const [size, mtimeMs, ino, bytes, seq, activatedAt, id, agent, agentId, sender, cwd, ...told] = row
  const [title, summary, preview, createdAt, updatedAt, messageCount, archiveCount, forkedFrom] = told
  return [
    id,
    {
      stamp: { size, mtimeMs, ino },
      digest: {
        cursor: { bytes, seq },
        activatedAt,
        summary: {
          ...{ id, agent, agentId, sender, cwd, title, summary, preview, createdAt, updatedAt },
          messageCount,
          archiveCount,
          forkedFrom: forkedFrom ?? undefined,
        },
      },
    },
  ]
}

/** The first line: says that exactly these bytes follow, and in which format. */
async function toSeal(body: Uint8Array): Promise<string> {
  const { hash } = await import('node:crypto') // slow to load, and only listings need it
  return `crabtalk sessions 4 ${hash('sha1', body, 'hex')}\n`
}
