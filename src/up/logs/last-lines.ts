import { open, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { parseObject } from '../../core/base/json.ts'
import { sanitize } from '../../core/base/sanitize.ts'

/** A position in the log files of a service. */
export interface LogPosition {
  /** File sizes in bytes, by path; 0 for a file that does not exist. */
  sizes: ReadonlyMap<string, number>
}

/** Records where the logs of a service end now; whatever it writes later comes after this position. */
export async function markLogs(logs: string, name: string): Promise<LogPosition> {
  const files = logPaths(logs, name)
  const sizes = await Promise.all(files.map(async (file) => [file, await readSize(file)] as const))
  return { sizes: new Map(sizes) }
}

/**
 * Reads the last `most` lines a service has written, cleaned for display; with `since`, only lines after that
 * position.
 */
export async function readLastLines(
  logs: string,
  name: string,
  { most = MAX_LINES, since }: { most?: number; since?: LogPosition } = {},
): Promise<string[]> {
  const texts = await Promise.all(
    logPaths(logs, name).map((file) => readFrom(file, since?.sizes.get(file) ?? 0)),
  )
  const lines = texts.flatMap((text) => text.split('\n').filter((line) => line.trim() !== ''))
  return lines.slice(-most).map((line) => sanitize(readable(line)).replaceAll('\n', ' '))
}

/** The service's own log comes first; the reason it died is usually at the end of the other file. */
function logPaths(logs: string, name: string): string[] {
  return [join(logs, `${name}.log`), join(logs, `${name}.crash.log`)]
}

/**
 * Reads what follows the offset, at most the last 64 KiB. A file shorter than the offset has been replaced
 * and is read from its beginning.
 */
async function readFrom(path: string, offset: number): Promise<string> {
  try {
    await using file = await open(path, 'r')
    const { size } = await file.stat()
    const start = Math.max(size < offset ? 0 : offset, size - MAX_BYTES)
    const bytes = Buffer.alloc(size - start)
    const { bytesRead } = await file.read(bytes, 0, bytes.length, start)
    const text = bytes.toString('utf8', 0, bytesRead)
    return start > offset ? text.slice(text.indexOf('\n') + 1) : text
  } catch {
    return '' // it has written nothing, or its file cannot be read
  }
}

async function readSize(path: string): Promise<number> {
  return await stat(path).then(
    ({ size }) => size,
    () => 0,
  )
}

/** Formats a structured log line for a reader; other lines stay as they are. */
function readable(line: string): string {
  const { time, level, message, hint } = parseObject(line) ?? {}
  if (typeof message !== 'string') return line
  const more = typeof hint === 'string' ? ` (${hint})` : ''
  return `${String(time).slice(11, 19)} ${level} ${message}${more}`
}

const MAX_LINES = 10
const MAX_BYTES = 64 * 1024
