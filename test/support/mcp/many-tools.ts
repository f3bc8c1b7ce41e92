import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { programFile } from '../programs.ts'
import type { StdioEntry, WatchedServer } from './mcp-servers.ts'
import { pidsIn, receivedIn } from './record.ts'

const SCRIPT = programFile(join(import.meta.dirname, 'many-tools-server.ts'))

/** Builds a server with `count` tools, like watchedServer(); `title` and `instructions` are its own texts. */
export function manyToolsServer(
  folder: string,
  { name, count, ...words }: { name: string; count: number; title?: string; instructions?: string },
): WatchedServer {
  const mark = `crab-${randomUUID()}`
  const [record, starts] = [join(folder, `${mark}.record`), join(folder, `${mark}.starts`)]
  const variables = Object.entries({ count: String(count), ...words, record, starts, mark })
  const args = [SCRIPT, ...variables.map(([key, value]) => `--${key}=${value}`)]
  const entry: StdioEntry = { name, command: process.execPath, args }
  return {
    entry,
    mark,
    received: () => receivedIn(record),
    messages: (method) =>
      receivedIn(record).flatMap(({ message }) =>
        message !== undefined && (method === undefined || message.method === method) ? [message] : [],
      ),
    starts: () => pidsIn(starts),
  }
}
