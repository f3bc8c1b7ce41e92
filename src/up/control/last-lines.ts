import { open, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { parseObject } from '../../core/base/json.ts'
import { sanitize } from '../../core/base/sanitize.ts'

/** How far the logs of a service have come. */
export interface LogPosition {
  /** Bytes, by file; a file that is not there has none. */
  sizes: ReadonlyMap<string, number>
}

/** Where the logs of a service end now: what it says from now on stands behind. */
export async function markLogs(logs: string, name: string): Promise<LogPosition> {
  const files = logPaths(logs, name)
  const sizes = await Promise.all(files.map(async (file) => [file, await readSize(file)] as const))
  return { sizes: new Map(sizes) }
}

/** The last lines a service has written, at most that many; with a mark only what stands behind it. For a person to read. */
export async function readLastLines(
  logs: string,
  name: string,
  { most = MOST_LINES, since }: { most?: number; since?: LogPosition } = {},
): Promise<string[]> {
  const texts = await Promise.all(
    logPaths(logs, name).map((file) => readFrom(file, since?.sizes.get(file) ?? 0)),
  )
  const lines = texts.flatMap((text) => text.split('\n').filter((line) => line.trim() !== ''))
  return lines.slice(-most).map((line) => sanitize(readable(line)).replaceAll('\n', ' '))
}

/** What it says in its own log comes first; what killed it stands in the other one. */
function logPaths(logs: string, name: string): string[] {
  return [join(logs, `${name}.log`), join(logs, `${name}.crash.log`)]
}

/** What stands behind that offset; all of it where the file is shorter by now, which means it is another one. */
async function readFrom(path: string, offset: number): Promise<string> {
  try {
    await using file = await open(path, 'r')
    const { size } = await file.stat()
    const start = Math.max(size < offset ? 0 : offset, size - MOST_BYTES)
    const bytes = Buffer.alloc(size - start)
    const { bytesRead } = await file.read(bytes, 0, bytes.length, start)
    const text = bytes.toString('utf8', 0, bytesRead)
    return start > offset ? text.slice(text.indexOf('\n') + 1) : text
  } catch {
    return '' // it has written nothing, or what it has written cannot be read
  }
}

async function readSize(path: string): Promise<number> {
  return await stat(path).then(
    ({ size }) => size,
    () => 0,
  )
}

/** A line of a log as people read it; other lines as they are. */
function readable(line: string): string {
  const { time, level, message, hint } = parseObject(line) ?? {}
  if (typeof message !== 'string') return line
  const more = typeof hint === 'string' ? ` (${hint})` : ''
  return `${String(time).slice(11, 19)} ${level} ${message}${more}`
}

const MOST_LINES = 10
const MOST_BYTES = 64 * 1024
