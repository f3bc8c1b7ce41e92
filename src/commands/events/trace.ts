import type { CommandHandler } from '../../cli/command.ts'
import { fitLine, printJson } from '../../cli/print.ts'
import { requireDaemon } from '../../cli/require-daemon.ts'
import { relativeTime } from '../../core/base/relative-time.ts'
import { sanitizeLine } from '../../core/base/sanitize.ts'
import { type FiredRun, FiredState, type TracedEvent } from '../../core/protocol/crabtalk.generated.ts'
import { request } from '../../core/protocol/dispatch.ts'

/** Runs `crabtalk events trace`: prints as a tree which event started what. */
export const traceEventsCommand: CommandHandler = async ({ options, host, signal }) => {
  const [id = ''] = options.args
  await using attached = await requireDaemon(host, { task: 'trace events' }, signal)
  const { events } = await request(attached.dispatch, 'traceEvent', { id }, signal)
  if (options.has('json')) return printJson(host, events.map(toJson))
  if (events.length === 0) host.stderr.write('No events are remembered\n')
  for (const line of toTree(events, Date.now())) host.stdout.write(`${await fitLine(host, line)}\n`)
  return 0
}

/** Renders a tree: events with the runs that they started, and under each run the events of its end. */
export function toTree(events: readonly TracedEvent[], now: number): string[] {
  const runs = new Set(events.flatMap(({ fired }) => fired.map(({ runId }) => runId)).filter(Boolean))
  const roots = events.filter(({ runId }) => !runs.has(runId))
  return roots.flatMap((event) => formatEvent(event, events, now))
}

function formatEvent(event: TracedEvent, events: readonly TracedEvent[], now: number): string[] {
  const { source, id, publishedAt, payload, fired } = event
  const head = oneLine([source, id, relativeTime(publishedAt, now), payload])
  return [head, ...indentBranches(fired.map((run) => formatRun(run, events, now)))]
}

function formatRun(run: FiredRun, events: readonly TracedEvent[], now: number): string[] {
  const head = oneLine([run.agent, STATES[run.state] ?? 'unknown', run.runId, run.error])
  const ends = run.runId === '' ? [] : events.filter(({ runId }) => runId === run.runId)
  return [head, ...indentBranches(ends.map((event) => formatEvent(event, events, now)))]
}

/** Indents each part below its head, with lines that connect them. */
function indentBranches(parts: readonly string[][]): string[] {
  return parts.flatMap((lines, index) => {
    const [first, rest] = index < parts.length - 1 ? ['├─ ', '│  '] : ['└─ ', '   ']
    return lines.map((line, at) => (at === 0 ? first : rest) + line)
  })
}

function oneLine(words: readonly string[]): string {
  const clean = words.map((word) => sanitizeLine(word).trim())
  return clean.filter((word) => word !== '').join('  ')
}

function toJson({ id, source, payload, publishedAt, runId, depth, fired }: TracedEvent) {
  return {
    id,
    source,
    payload,
    published_at: publishedAt,
    run: runId || null,
    depth,
    fired: fired.map(toJsonRun),
  }
}

function toJsonRun({ subscriptionId, agent, sender, runId, state, error }: FiredRun) {
  const how = STATES[state] ?? 'unknown'
  return { subscription: subscriptionId, agent, sender, run: runId || null, state: how, error: error || null }
}

const STATES: Partial<Record<FiredState, string>> = {
  [FiredState.WAITING]: 'waiting',
  [FiredState.RUNNING]: 'running',
  [FiredState.DONE]: 'done',
  [FiredState.FAILED]: 'failed',
  [FiredState.REFUSED]: 'refused',
}
