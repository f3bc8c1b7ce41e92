import { parseObject } from '../../core/base/json.ts'
import type { LogLevel } from '../../core/base/log.ts'
import type { UpHost } from '../types.ts'
import type { LogEntry } from './entry.ts'

/** A query of the journal. */
export interface JournalQuery {
  /** The names of services, by the labels of their units. */
  services: ReadonlyMap<string, string>
  lines: number | undefined
  /** Milliseconds since 1970. */
  since: number | undefined
  /** Only entries after this cursor. */
  cursor?: string | undefined
}

/**
 * Reads the journal entries of the units of services, oldest first, and the cursor after the last one.
 * Returns no entries when there is no journal or it may not be read.
 */
export async function readJournal(
  host: Pick<UpHost, 'run' | 'env'>,
  { services, lines, since, cursor }: JournalQuery,
  signal: AbortSignal,
): Promise<{ entries: LogEntry[]; cursor: string | undefined }> {
  const units = [...services.keys()].map((label) => `--user-unit=${label}.service`)
  const place = cursor === undefined ? [] : [`--after-cursor=${cursor}`]
  const from = since === undefined ? [] : [`--since=@${Math.floor(since / 1000)}`]
  const most = cursor === undefined ? [`--lines=${Math.min(lines ?? MAX_LINES, MAX_LINES)}`] : []
  const form = [
    '--output=json',
    '--output-fields=MESSAGE,PRIORITY,USER_UNIT,_SYSTEMD_USER_UNIT',
    '--no-pager',
  ]
  const none = { entries: [], cursor }
  if (units.length === 0) return none
  try {
    const argv = ['journalctl', '--quiet', ...form, ...place, ...from, ...most, ...units] as const
    const { code, stdout } = await host.run(argv, { env: host.env, timeoutMs: LIMIT_MS }, signal)
    if (code !== 0) return none
    const rows = stdout.split('\n').flatMap((raw) => parseRow(raw, services) ?? [])
    return { entries: rows.map(({ entry }) => entry), cursor: rows.at(-1)?.cursor ?? cursor }
  } catch {
    return none // journalctl is missing, or takes too long
  }
}

function parseRow(raw: string, services: ReadonlyMap<string, string>) {
  const row = parseObject(raw)
  const { MESSAGE: message, PRIORITY: priority, __CURSOR: cursor, __REALTIME_TIMESTAMP: micros } = row ?? {}
  const unit = String(row?.['USER_UNIT'] ?? row?.['_SYSTEMD_USER_UNIT'] ?? '')
  const service = services.get(unit.replace(/\.service$/, ''))
  if (typeof message !== 'string' || typeof cursor !== 'string' || service === undefined) return undefined
  const time = Math.floor(Number(micros) / 1000)
  const level = LEVELS[Number(priority)] ?? 'info'
  const entry: LogEntry = { service, source: 'journal', raw: message, time, level, message, fields: {} }
  return { entry, cursor }
}

/** Levels by syslog priority. */
const LEVELS: readonly LogLevel[] = ['error', 'error', 'error', 'error', 'warn', 'info', 'info', 'debug']
const LIMIT_MS = 5000
/**
 * The buffered output of a program holds about this many lines; without a limit, only the oldest would be
 * kept.
 */
const MAX_LINES = 1500
