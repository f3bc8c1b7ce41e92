import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { type LogEntry, parseLogEntry } from './entry.ts'
import { type LogFilePath, rotatedFiles } from './log-files.ts'
import { type FileOffset, readLastLogLines } from './tail.ts'

/** Which of what was written is wanted. */
export interface LogFilter {
  /** At most so many lines, the last ones; all when undefined. */
  lines: number | undefined
  /** Not what was written before, milliseconds since 1970; everything when undefined. */
  since: number | undefined
  /** Whether a line belongs to what is wanted; a file may hold others. */
  isWanted(entry: LogEntry): boolean
  /** Also the beginning of a line that does not end yet: nobody reads on. */
  unfinished: boolean
}

/** Told where a file was read to. */
export type OnRead = (file: LogFilePath, to: FileOffset) => void

/** What was written to several files, oldest first; of lines of the same time those of one file stay in order. */
export async function* readBacklog(
  files: readonly LogFilePath[],
  wanted: LogFilter,
  onRead: OnRead,
): AsyncGenerator<LogEntry> {
  const { lines, since = Number.NEGATIVE_INFINITY } = wanted
  if (lines === undefined || wanted.since !== undefined) {
    const all = merge(files.map((file) => readSince(file, { ...wanted, since }, onRead)))
    if (lines === undefined) yield* all
    else yield* await keepLast(all, lines)
    return
  }
  const tails = await Promise.all(files.map((file) => readLast(file, { ...wanted, lines }, onRead)))
  if (lines > 0) yield* sorted(tails.flat()).slice(-lines)
}

/** Entries by time, in the order they came where that is the same. */
export function sorted(entries: readonly LogEntry[]): LogEntry[] {
  return entries.toSorted((a, b) => a.time - b.time)
}

/** The last lines of a file, at most so many, from those that were set aside where it does not hold enough. */
async function readLast(
  file: LogFilePath,
  { lines, unfinished, isWanted }: LogFilter & { lines: number },
  onRead: OnRead,
): Promise<LogEntry[]> {
  let entries: LogEntry[] = []
  for (const { path, writtenAt } of (await rotatedFiles(file.path, 0)).toReversed()) {
    const read = await readLastLogLines(
      path,
      isShared(file) ? Number.POSITIVE_INFINITY : lines - entries.length,
    )
    if (!read) continue
    if (path === file.path) onRead(file, read.to)
    const rest = unfinished && read.rest !== '' ? [read.rest] : []
    const found = toEntries(file, [...read.lines, ...rest], writtenAt).filter(isWanted)
    entries = [...found, ...entries]
    if (entries.length >= lines) break
  }
  return entries
}

/** Of a file of several services the last lines need not be those that are wanted. */
function isShared({ source }: LogFilePath): boolean {
  return source === 'supervisor'
}

/** A line without a time counts as written when its file was. */
function toEntries(
  { service, source }: LogFilePath,
  lines: readonly string[],
  writtenAt: number,
): LogEntry[] {
  return lines.map((raw) => parseLogEntry(raw, { service, source, about: writtenAt }))
}

async function* readSince(
  file: LogFilePath,
  { since, unfinished, isWanted }: LogFilter & { since: number },
  onRead: OnRead,
): AsyncGenerator<LogEntry> {
  for (const { path, writtenAt } of await rotatedFiles(file.path, since)) {
    const stats = await stat(path, { bigint: true }).catch(() => undefined) // it was the oldest, and has gone
    if (!stats) continue
    let offset = 0
    for await (const { raw, end } of linesWithEnds(path)) {
      if (end === undefined && !unfinished) break
      offset = end ?? offset
      const entry = parseLogEntry(raw, { ...file, about: writtenAt })
      if (entry.time >= since && isWanted(entry)) yield entry
    }
    if (path === file.path) onRead(file, { id: stats.ino, offset })
  }
}

/** The lines of a file and where each ends; the last one may not end. */
async function* linesWithEnds(path: string): AsyncGenerator<{ raw: string; end: number | undefined }> {
  let rest = Buffer.alloc(0)
  let at = 0
  try {
    for await (const piece of createReadStream(path) as AsyncIterable<Buffer>) {
      const bytes = Buffer.concat([rest, piece])
      let from = 0
      for (let end = bytes.indexOf(LF); end >= 0; end = bytes.indexOf(LF, from)) {
        yield { raw: bytes.toString('utf8', from, end), end: at + end + 1 }
        from = end + 1
      }
      at += from
      rest = Buffer.from(bytes.subarray(from))
    }
    if (rest.length > 0) yield { raw: rest.toString('utf8'), end: undefined }
  } catch {
    // It went away, or may not be read: what was read counts.
  }
}

/** Streams that are in order as one that is. */
async function* merge(streams: readonly AsyncGenerator<LogEntry>[]): AsyncGenerator<LogEntry> {
  const heads = await Promise.all(streams.map(async (stream) => ({ stream, head: await stream.next() })))
  try {
    for (;;) {
      const open = heads.filter(({ head }) => !head.done)
      const [first, ...others] = open
      if (!first) return
      const next = others.reduce((a, b) => (entryTime(b.head) < entryTime(a.head) ? b : a), first)
      yield next.head.value as LogEntry
      next.head = await next.stream.next()
    }
  } finally {
    await Promise.all(streams.map((stream) => stream.return(undefined)))
  }
}

function entryTime({ value }: IteratorResult<LogEntry>): number {
  return (value as LogEntry).time
}

async function keepLast(entries: AsyncIterable<LogEntry>, most: number): Promise<LogEntry[]> {
  let kept: LogEntry[] = []
  for await (const entry of entries) {
    kept.push(entry)
    if (kept.length > most * 2 + 1000) kept = kept.slice(-most)
  }
  return most === 0 ? [] : kept.slice(-most)
}

const LF = 0x0a
