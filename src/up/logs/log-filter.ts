import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { type LogEntry, parseLogEntry } from './entry.ts'
import { type LogFilePath, rotatedFiles } from './log-files.ts'
import { type FileOffset, readLastLogLines } from './tail.ts'

/** Selects log entries. */
export interface LogFilter {
  /** The number of lines at most, counted from the end; unlimited when undefined. */
  lines: number | undefined
  /** The earliest time, in milliseconds since 1970; unlimited when undefined. */
  since: number | undefined
  /** Whether to include an entry; one file may hold entries of several services. */
  isWanted(entry: LogEntry): boolean
  /**
   * Whether to include a last line that has no line break yet; true when the log is not followed afterwards.
   */
  unfinished: boolean
}

/** Receives the position up to which a file was read. */
export type OnRead = (file: LogFilePath, to: FileOffset) => void

/**
 * Yields the entries of several files, oldest first; entries of one file with the same time keep their order.
 */
export async function* readBacklog(
  files: readonly LogFilePath[],
  filter: LogFilter,
  onRead: OnRead,
): AsyncGenerator<LogEntry> {
  const { lines, since = Number.NEGATIVE_INFINITY } = filter
  if (lines === undefined || filter.since !== undefined) {
    const all = merge(files.map((file) => readSince(file, { ...filter, since }, onRead)))
    if (lines === undefined) yield* all
    else yield* await keepLast(all, lines)
    return
  }
  const tails = await Promise.all(files.map((file) => readLast(file, { ...filter, lines }, onRead)))
  if (lines > 0) yield* sorted(tails.flat()).slice(-lines)
}

/** Sorts entries by time; entries with the same time keep their order. */
export function sorted(entries: readonly LogEntry[]): LogEntry[] {
  return entries.toSorted((a, b) => a.time - b.time)
}

/** Reads the last matching lines of a file, continuing in its rotated files when it does not hold enough. */
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

/** In a file shared by several services, the last lines may all belong to others. */
function isShared({ source }: LogFilePath): boolean {
  return source === 'supervisor'
}

/** A line without a time gets the time at which its file was written. */
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
    const stats = await stat(path, { bigint: true }).catch(() => undefined) // it was the oldest file and has been removed
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

/** Yields the lines of a file and the offset after each; the end of an unterminated last line is undefined. */
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
    // The file was removed or cannot be read: what was read so far counts.
  }
}

/** Merges sorted streams into one sorted stream. */
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
  let last: LogEntry[] = []
  for await (const entry of entries) {
    last.push(entry)
    if (last.length > most * 2 + 1000) last = last.slice(-most)
  }
  return most === 0 ? [] : last.slice(-most)
}

const LF = 0x0a
