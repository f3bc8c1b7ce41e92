import { constants, type Stats } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { makePrivateDir, replaceFile } from '../../core/base/files.ts'

/** Kept when the file is rewritten. */
const MOST_ENTRIES = 1_000
const MOST_BYTES = 1024 * 1024
/** Longer texts are not kept. */
const MOST_ENTRY_BYTES = 256 * 1024
/** It is rewritten when it has this much more than is kept. */
const SLACK = 1.25

/**
 * What was sent in earlier chats, oldest first: JSON lines `{"text": …}`, one for each. What cannot be read is passed
 * over; without a readable file it is nothing. A file that has grown too long is rewritten on the way.
 */
export async function readSentHistory(path: string): Promise<string[]> {
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
export async function appendSentHistory(path: string, text: string): Promise<void> {
  const line = `${JSON.stringify({ text })}\n`
  if (text.trim() === '' || Buffer.byteLength(line) > MOST_ENTRY_BYTES) return
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

interface Rewriting {
  path: string
  file: FileHandle
  /** Of the file as it was read. */
  stats: Stats
}

/** What others append meanwhile goes to the old file: it is carried over. */
async function rewrite({ path, file, stats }: Rewriting, kept: readonly string[]): Promise<void> {
  await replaceFile(path, kept.map((text) => `${JSON.stringify({ text })}\n`).join(''))
  for (const text of toEntries(await readFrom(file, stats.size))) await appendSentHistory(path, text)
}

async function readFrom(file: FileHandle, from: number): Promise<string> {
  const { size } = await file.stat()
  const room = Buffer.alloc(Math.max(0, size - from))
  const { bytesRead } = await file.read(room, 0, room.length, from)
  return room.toString('utf8', 0, bytesRead)
}

function toEntries(lines: string): string[] {
  const texts = lines.split('\n').flatMap(toEntry)
  return texts.filter((text, index) => text !== texts[index - 1])
}

function toEntry(line: string): string[] {
  try {
    const { text } = JSON.parse(line)
    return typeof text === 'string' && text !== '' ? [text] : []
  } catch {
    return [] // torn, or somebody else's
  }
}

function newest(entries: readonly string[]): string[] {
  let bytes = 0
  const first = entries.findLastIndex((text) => {
    bytes += Buffer.byteLength(JSON.stringify({ text })) + 1
    return bytes > MOST_BYTES
  })
  return entries.slice(Math.max(first + 1, entries.length - MOST_ENTRIES))
}
