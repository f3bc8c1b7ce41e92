import { constants, type Stats } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { makePrivateDir, replaceFile } from '../../core/base/files.ts'
import type { SentText } from '../../tui/text/history.ts'

/** Kept when the file is rewritten. */
const MOST_ENTRIES = 1_000
const MOST_BYTES = 1024 * 1024
/** Longer texts are not kept. */
const MOST_ENTRY_BYTES = 256 * 1024
/** It is rewritten when it has this much more than is kept. */
const SLACK = 1.25

/**
 * What was sent in earlier chats, oldest first: JSON lines `{"text": …}`, one for each, with `"pasted": […]` where parts of
 * it were pasted. What cannot be read is passed over; without a readable file it is nothing. A file that has grown too
 * long is rewritten on the way.
 */
export async function readSentHistory(path: string): Promise<SentText[]> {
  try {
    await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK) // a FIFO must not block
    const stats = await file.stat()
    if (!stats.isFile()) return []
    const entries = toEntries(await readFrom(file, Math.max(0, stats.size - MOST_BYTES * 2)))
    const kept = newest(entries)
    if (stats.size > MOST_BYTES * SLACK || entries.length > MOST_ENTRIES * SLACK)
      await rewrite({ path, file, stats }, kept).catch(() => undefined) // the next chat tries again
    return kept
  } catch {
    return [] // as promised
  }
}

/**
 * Appends what was sent, unless it is what the file ends with. Several chats may do so at once: a line is written in one
 * piece. What cannot be written is lost, and nobody is told: it is a convenience.
 */
export async function appendSentHistory(path: string, sent: SentText): Promise<void> {
  const line = toLine(sent)
  if (sent.text.trim() === '' || Buffer.byteLength(line) > MOST_ENTRY_BYTES) return
  try {
    await makePrivateDir(dirname(path))
    const { O_APPEND, O_CREAT, O_NONBLOCK, O_RDWR } = constants
    await using file = await open(path, O_RDWR | O_APPEND | O_CREAT | O_NONBLOCK, 0o600)
    const stats = await file.stat()
    if (!stats.isFile()) return
    const tail = await readFrom(file, Math.max(0, stats.size - Buffer.byteLength(line) - 1))
    if (tail === line || tail.endsWith(`\n${line}`)) return
    const isTorn = tail !== '' && !tail.endsWith('\n')
    await file.write(isTorn ? `\n${line}` : line)
  } catch {
    // as promised
  }
}

interface RewriteTarget {
  path: string
  file: FileHandle
  /** Of the file as it was read. */
  stats: Stats
}

/** What others append meanwhile goes to the old file: it is carried over. */
async function rewrite({ path, file, stats }: RewriteTarget, kept: readonly SentText[]): Promise<void> {
  await replaceFile(path, kept.map(toLine).join(''))
  for (const sent of toEntries(await readFrom(file, stats.size))) await appendSentHistory(path, sent)
}

function toLine({ text, pasted }: SentText): string {
  return `${JSON.stringify(pasted.length === 0 ? { text } : { text, pasted })}\n`
}

async function readFrom(file: FileHandle, from: number): Promise<string> {
  const { size } = await file.stat()
  const room = Buffer.alloc(Math.max(0, size - from))
  const { bytesRead } = await file.read(room, 0, room.length, from)
  return room.toString('utf8', 0, bytesRead)
}

function toEntries(lines: string): SentText[] {
  const entries = lines.split('\n').flatMap(toEntry)
  return entries.filter(({ text }, index) => text !== entries[index - 1]?.text)
}

function toEntry(line: string): SentText[] {
  try {
    const { text, pasted = [] } = JSON.parse(line)
    return typeof text === 'string' && text !== '' && isTexts(pasted) ? [{ text, pasted }] : []
  } catch {
    return [] // torn, or somebody else's
  }
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string')
}

function newest(entries: readonly SentText[]): SentText[] {
  let bytes = 0
  const first = entries.findLastIndex((entry) => {
    bytes += Buffer.byteLength(toLine(entry))
    return bytes > MOST_BYTES
  })
  return entries.slice(Math.max(first + 1, entries.length - MOST_ENTRIES))
}
