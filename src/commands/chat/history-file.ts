import { constants, type Stats } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { makePrivateDir, replaceFile } from '../../core/base/files.ts'
import type { SentText } from '../../tui/text/history.ts'

/** The limits that a rewrite of the file restores. */
const MAX_ENTRIES = 1_000
const MAX_BYTES = 1024 * 1024
/** The maximum size of an entry; longer texts are not stored. */
const MAX_ENTRY_BYTES = 256 * 1024
/** The factor by which the file may exceed the limits before it is rewritten. */
const SLACK = 1.25

/**
 * Reads the messages sent in earlier chats, oldest first, from JSON lines `{"text": …}`, with `"pasted": […]`
 * where parts were pasted. Skips invalid lines; returns nothing without a readable file. Rewrites a file that
 * has grown too long.
 */
export async function readSentHistory(path: string): Promise<SentText[]> {
  try {
    await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK) // a FIFO must not block
    const stats = await file.stat()
    if (!stats.isFile()) return []
    const entries = toEntries(await readFrom(file, Math.max(0, stats.size - MAX_BYTES * 2)))
    const recent = takeNewest(entries)
    if (stats.size > MAX_BYTES * SLACK || entries.length > MAX_ENTRIES * SLACK)
      await rewrite({ path, file, stats }, recent).catch(() => undefined) // the next chat tries again
    return recent
  } catch {
    return [] // history is a convenience
  }
}

/**
 * Appends a sent message, unless the file already ends with it. Several chats may append concurrently: each
 * line is written in one piece. Failures are ignored, because history is a convenience.
 */
export async function appendSentHistory(path: string, sent: SentText): Promise<void> {
  const line = toLine(sent)
  if (sent.text.trim() === '' || Buffer.byteLength(line) > MAX_ENTRY_BYTES) return
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
    // history is a convenience
  }
}

interface RewriteTarget {
  path: string
  file: FileHandle
  /** The stats of the file when it was read. */
  stats: Stats
}

/** Replaces the file; lines that other chats append to the old file meanwhile are carried over. */
async function rewrite({ path, file, stats }: RewriteTarget, recent: readonly SentText[]): Promise<void> {
  await replaceFile(path, recent.map(toLine).join(''))
  for (const sent of toEntries(await readFrom(file, stats.size))) await appendSentHistory(path, sent)
}

function toLine({ text, pasted }: SentText): string {
  return `${JSON.stringify(pasted.length === 0 ? { text } : { text, pasted })}\n`
}

async function readFrom(file: FileHandle, from: number): Promise<string> {
  const { size } = await file.stat()
  const buffer = Buffer.alloc(Math.max(0, size - from))
  const { bytesRead } = await file.read(buffer, 0, buffer.length, from)
  return buffer.toString('utf8', 0, bytesRead)
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
    return [] // a torn or foreign line
  }
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string')
}

function takeNewest(entries: readonly SentText[]): SentText[] {
  let bytes = 0
  const first = entries.findLastIndex((entry) => {
    bytes += Buffer.byteLength(toLine(entry))
    return bytes > MAX_BYTES
  })
  return entries.slice(Math.max(first + 1, entries.length - MAX_ENTRIES))
}
