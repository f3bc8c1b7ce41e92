import { wantsColor } from '../../../cli/color.ts'
import type { CommandHandler, ParsedOptions } from '../../../cli/command.ts'
import { parseCount } from '../../../cli/duration.ts'
import type { Host } from '../../../cli/host.ts'
import { StopController } from '../../../cli/stop-controller.ts'
import { parseWhen } from '../../../cli/when.ts'
import { toCrabError } from '../../../core/base/errors.ts'
import type { LogEntry } from '../../../up/logs/entry.ts'
import { followLogs } from '../../../up/logs/follow.ts'
import { type LogFilePath, listLogFiles, loggedServices, supervisorLog } from '../../../up/logs/log-files.ts'
import { readBacklog } from '../../../up/logs/log-filter.ts'
import type { FileOffset } from '../../../up/logs/tail.ts'
import { toServiceLabel } from '../../../up/names.ts'
import { findService } from '../../../up/services/service-spec.ts'
import { openServicesContext, type ServicesContext } from '../../../up/services/services-context.ts'
import { logLine } from './log-lines.ts'

/** `crabup logs`: prints the logs of all services, or of the named ones, by time. */
export const serviceLogsCommand: CommandHandler = async ({ options, host }) => {
  return await showLogs({ names: [...new Set(options.args)], options, host })
}

/** `crabup NAME logs`: prints the logs of a service. */
export const oneServiceLogsCommand: CommandHandler = async ({ path: [name = ''], options, host }) => {
  return await showLogs({ names: [name], options, host })
}

interface LogsRequest {
  /** The services to show; all when empty. */
  names: readonly string[]
  options: ParsedOptions
  host: Host
}

async function showLogs(request: LogsRequest): Promise<number> {
  const { options, host } = request
  const range = readLogOptions(options)
  using stop = new StopController({ host, timeoutMs: 0, idleTimeoutMs: 0 })
  try {
    const context = await openServicesContext(host, stop.signal)
    await checkNames(request.names, context)
    const count = await print(request, { context, range }, stop.signal)
    if (count === 0 && range.lines !== 0 && !options.has('follow'))
      host.stderr.write(noLinesText(request.names, range.since))
    await host.stdout.flush()
    return stop.exit ?? 0
  } catch (reason) {
    if (stop.exit === undefined) throw toCrabError(reason)
    await host.stdout.flush()
    return stop.exit
  }
}

/** Prints the existing lines, and with --follow the new ones; returns the number of printed lines. */
async function print(
  { names, options, host }: LogsRequest,
  { context, range }: { context: ServicesContext; range: ReturnType<typeof readLogOptions> },
  signal: AbortSignal,
): Promise<number> {
  const { logs: folder } = context.paths
  const services = async () => (names.length > 0 ? names : await loggedServices(folder))
  const filesNow = async () => {
    return [...(await services()).flatMap((name) => listLogFiles(name, folder)), supervisorLog(folder)]
  }
  const isWanted = ({ service }: LogEntry) => names.length === 0 || names.includes(service)
  const readTo = new Map<string, FileOffset>()
  const onRead = ({ path }: LogFilePath, to: FileOffset) => void readTo.set(path, to)
  const journal = await openJournal(context, await services(), range, signal)
  const style = {
    isJson: options.has('json'),
    isPretty: host.stdout.isTerminal,
    color: wantsColor('auto', host.env, host.stdout),
    isNamed: names.length !== 1,
    now: context.host.now(),
  }
  let count = 0
  const write = async (entry: LogEntry) => {
    signal.throwIfAborted() // stops when the output is no longer read
    count += 1
    await host.stdout.write(`${logLine(entry, style)}\n`)
  }
  const filter = { ...range, isWanted, unfinished: !options.has('follow') }
  const backlog = readBacklog(await filesNow(), filter, onRead)
  for await (const entry of journal.among(backlog, range.lines)) await write(entry)
  if (!options.has('follow')) return count
  const followed = {
    ...{ folder, files: filesNow, others: () => journal.more(signal), now: () => context.host.now() },
    readTo: ({ path }: LogFilePath) => readTo.get(path),
  }
  for await (const entry of followLogs(followed, signal)) if (isWanted(entry)) await write(entry)
  return count
}

/** Opens the journal of the services, when systemd runs them. */
async function openJournal(
  context: ServicesContext,
  names: readonly string[],
  { lines, since }: { lines: number | undefined; since: number | undefined },
  signal: AbortSignal,
) {
  const { readJournal } = await import('../../../up/logs/journal.ts')
  const isThere = context.manager.kind === 'systemd'
  const services = new Map(isThere ? names.map((name) => [toServiceLabel(name, context.labels), name]) : [])
  const first = await readJournal(context.host, { services, lines, since }, signal)
  let { cursor } = first
  const startedAt = context.host.now()
  let queriedAt = startedAt
  return {
    /** Merges the journal into the backlog of files. */
    async *among(files: AsyncIterable<LogEntry>, most: number | undefined): AsyncGenerator<LogEntry> {
      if (first.entries.length === 0) return yield* files
      const all = first.entries.slice()
      for await (const entry of files) all.push(entry)
      all.sort((a, b) => a.time - b.time)
      yield* most === undefined ? all : most === 0 ? [] : all.slice(-most)
    },
    async more(stop: AbortSignal): Promise<readonly LogEntry[]> {
      const now = context.host.now()
      if (services.size === 0 || now - queriedAt < JOURNAL_MS) return []
      queriedAt = now
      const since = cursor === undefined ? startedAt : undefined
      const next = await readJournal(context.host, { services, lines: undefined, since, cursor }, stop)
      cursor = next.cursor
      return next.entries
    },
  }
}

/** Throws `no-service` for a name without a service and without logs. */
async function checkNames(names: readonly string[], { paths }: ServicesContext): Promise<void> {
  const logged = await loggedServices(paths.logs)
  for (const name of names) if (!logged.includes(name)) findService(paths, name)
}

/** Reads the options; the default is the last 50 lines, or all lines with --since. */
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
/** The minimum interval between journal queries, because each starts a program. */
const JOURNAL_MS = 2000
