import { toCrabError } from '../../../core/base/errors.ts'
import type { LogEntry } from '../../../up/logs/entry.ts'
import { followLogs } from '../../../up/logs/follow.ts'
import { type LogFilePath, listLogFiles, loggedServices, supervisorLog } from '../../../up/logs/log-files.ts'
import { readBacklog } from '../../../up/logs/log-filter.ts'
import type { FileOffset } from '../../../up/logs/tail.ts'
import { toServiceLabel } from '../../../up/names.ts'
import { findService } from '../../../up/service-spec.ts'
import { wantsColor } from '../../color.ts'
import type { CommandHandler, ParsedOptions } from '../../command.ts'
import { parseWhen } from '../../conversation/when.ts'
import { parseCount } from '../../duration.ts'
import type { Host } from '../../host.ts'
import { StopController } from '../../send/stop-controller.ts'
import { logLine } from './log-lines.ts'
import { openServicesContext, type ServicesContext } from './services-context.ts'

/** `crabup serviceLogsCommand`: what all services wrote, or those that are named, by time. */
export const serviceLogsCommand: CommandHandler = async ({ options, host }) => {
  return await showLogs({ names: [...new Set(options.args)], options, host })
}

/** `crabup <name> serviceLogsCommand`: what a service wrote. */
export const oneServiceLogsCommand: CommandHandler = async ({ path: [name = ''], options, host }) => {
  return await showLogs({ names: [name], options, host })
}

interface LogsRequest {
  /** All when there is none. */
  names: readonly string[]
  options: ParsedOptions
  host: Host
}

async function showLogs(shown: LogsRequest): Promise<number> {
  const { options, host } = shown
  const wanted = readLogOptions(options)
  using stop = new StopController({ host, timeoutMs: 0, idleTimeoutMs: 0 })
  try {
    const place = await openServicesContext(host, stop.signal)
    await checkNames(shown.names, place)
    const count = await print(shown, { place, wanted }, stop.signal)
    if (count === 0 && wanted.lines !== 0 && !options.has('follow'))
      host.stderr.write(noLinesText(shown.names, wanted.since))
    await host.stdout.flush()
    return stop.exit ?? 0
  } catch (reason) {
    if (stop.exit === undefined) throw toCrabError(reason)
    await host.stdout.flush()
    return stop.exit
  }
}

/** Prints what there is, and with --follow what comes; gives how many lines that were. */
async function print(
  { names, options, host }: LogsRequest,
  { place, wanted }: { place: ServicesContext; wanted: ReturnType<typeof readLogOptions> },
  signal: AbortSignal,
): Promise<number> {
  const { logs: folder } = place.paths
  const services = async () => (names.length > 0 ? names : await loggedServices(folder))
  const filesNow = async () => {
    return [...(await services()).flatMap((name) => listLogFiles(name, folder)), supervisorLog(folder)]
  }
  const isWanted = ({ service }: LogEntry) => names.length === 0 || names.includes(service)
  const readTo = new Map<string, FileOffset>()
  const onRead = ({ path }: LogFilePath, to: FileOffset) => void readTo.set(path, to)
  const journal = await openJournal(place, await services(), wanted, signal)
  const style = {
    isJson: options.has('json'),
    isPretty: host.stdout.isTerminal,
    color: wantsColor('auto', host.env, host.stdout),
    isNamed: names.length !== 1,
    now: place.host.now(),
  }
  let count = 0
  const write = async (entry: LogEntry) => {
    signal.throwIfAborted() // nobody reads on
    count += 1
    await host.stdout.write(`${logLine(entry, style)}\n`)
  }
  const asked = { ...wanted, isWanted, unfinished: !options.has('follow') }
  const backlog = readBacklog(await filesNow(), asked, onRead)
  for await (const entry of journal.among(backlog, wanted.lines)) await write(entry)
  if (!options.has('follow')) return count
  const followed = {
    ...{ folder, files: filesNow, others: () => journal.more(signal), now: () => place.host.now() },
    readTo: ({ path }: LogFilePath) => readTo.get(path),
  }
  for await (const entry of followLogs(followed, signal)) if (isWanted(entry)) await write(entry)
  return count
}

/** What systemd says of the services, where it runs them. */
async function openJournal(
  place: ServicesContext,
  names: readonly string[],
  { lines, since }: { lines: number | undefined; since: number | undefined },
  signal: AbortSignal,
) {
  const { readJournal } = await import('../../../up/logs/journal.ts')
  const isThere = place.manager.kind === 'systemd'
  const services = new Map(isThere ? names.map((name) => [toServiceLabel(name, place.labels), name]) : [])
  const first = await readJournal(place.host, { services, lines, since }, signal)
  let { cursor } = first
  const begun = place.host.now()
  let asked = begun
  return {
    /** The backlog of files with it. */
    async *among(files: AsyncIterable<LogEntry>, most: number | undefined): AsyncGenerator<LogEntry> {
      if (first.entries.length === 0) return yield* files
      const all = first.entries.slice()
      for await (const entry of files) all.push(entry)
      all.sort((a, b) => a.time - b.time)
      yield* most === undefined ? all : most === 0 ? [] : all.slice(-most)
    },
    async more(stop: AbortSignal): Promise<readonly LogEntry[]> {
      const now = place.host.now()
      if (services.size === 0 || now - asked < JOURNAL_MS) return []
      asked = now
      const since = cursor === undefined ? begun : undefined
      const next = await readJournal(place.host, { services, lines: undefined, since, cursor }, stop)
      cursor = next.cursor
      return next.entries
    },
  }
}

/** There is such a service, or was one. Fails with `no-service`. */
async function checkNames(names: readonly string[], { paths }: ServicesContext): Promise<void> {
  const logged = await loggedServices(paths.logs)
  for (const name of names) if (!logged.includes(name)) findService(paths, name)
}

/** The last 50 lines, or all since some time. */
function readLogOptions(options: ParsedOptions): { lines: number | undefined; since: number | undefined } {
  const [lines, since] = [options.value('lines'), options.value('since')]
  const from = since === undefined ? undefined : Date.parse(parseWhen('since', since, new Date()))
  if (lines !== undefined) return { lines: parseCount('lines', lines), since: from }
  return { lines: from === undefined ? DEFAULT_LINES : undefined, since: from }
}

function noLinesText(names: readonly string[], since: number | undefined): string {
  const what = names.length === 0 ? 'Nothing was written' : `Nothing was written by ${names.join(' and ')}`
  return since === undefined ? `${what} yet\n` : `${what} since ${new Date(since).toLocaleString('sv')}\n`
}

const DEFAULT_LINES = 50
/** The journal is asked again no sooner: that starts a program. */
const JOURNAL_MS = 2000
