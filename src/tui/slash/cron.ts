import { toCrabError } from '../../core/base/errors.ts'
import { newPage } from '../overlays/page.ts'
import type { PageOverlay, Panel } from '../overlays/types.ts'
import type { ScheduledEntry } from '../ports.ts'
import { findPanel, hint, inColumns, printNotice, printTitled, showOverlay, takeFirstLines } from './print.ts'
import type { SlashContext } from './types.ts'

/** `/cron`: shows the schedules; `show`, `run`, `open` and `remove` with an id act on one entry. */
export async function showCron(args: string, context: SlashContext, signal: AbortSignal): Promise<void> {
  const [, verb = '', id = ''] = /^(\w+)\s+#?(\d+)$/.exec(args) ?? []
  const named = KEYS.find(({ label }) => label === verb)
  if (named) return await actOnCron({ value: id, key: named.key }, context, signal)
  if (args !== '')
    return printNotice(
      context,
      'warning',
      `Cannot run "/cron ${args}": unknown action`,
      'use show, run, open or remove with an id, such as /cron run 1; crabtalk cron add adds an entry',
    )
  const panel = await readPanel(context)
  if (panel.rows.length > 0) return showOverlay(context, panel)
  if (panel.note !== '') printNotice(context, 'warning', panel.note)
  printNotice(context, 'info', 'No schedules', 'add one with crabtalk cron add SCHEDULE MESSAGE')
}

/** Carries out a key of the panel. Throws `missing` for an entry that does not exist. */
export async function actOnCron(
  { value, key = '' }: { value: string; key?: string | undefined },
  context: SlashContext,
  signal: AbortSignal,
): Promise<void> {
  const id = Number(value)
  const { entries } = await context.ports.schedules.list()
  const entry = entries.find((one) => one.id === id)
  if (!entry && key !== 'd')
    return printNotice(context, 'warning', `Cannot find the entry ${id}`, '/cron lists the entries')
  if (key === 'd') {
    await context.ports.schedules.remove(id, signal)
    return await report(context, `Removed entry ${id}`)
  }
  if (!entry) return
  if (key === 's') return showOverlay(context, entryPage(entry, findPanel(context, 'cron')))
  if (key === 'r') return await startRun(entry, context)
  if (entry.session === undefined) return await report(context, `Entry ${id} has not run yet`)
  showOverlay(context, undefined)
  if (entry.session !== context.state().session) await context.openConversation(entry.session)
}

const KEYS = [
  { key: 's', label: 'show' },
  { key: 'r', label: 'run', confirm: 'run it now' },
  { key: 'o', label: 'open' },
  { key: 'd', label: 'remove', confirm: 'remove it' },
]

/** Runs an entry without waiting for its end, which is printed. */
async function startRun(entry: ScheduledEntry, context: SlashContext): Promise<void> {
  const { ports, lifetime } = context
  void ports.schedules.run(entry.id, lifetime).then(
    async ({ answer }) => {
      clearHint(context)
      printTitled(context, `Entry ${entry.id} ran in ${entry.address}`, takeFirstLines(answer, SHOWN_LINES))
      await refresh(context)
    },
    async (reason: unknown) => {
      if (lifetime.aborted) return
      clearHint(context)
      const { message, hint: advice } = toCrabError(reason)
      printNotice(context, 'error', `Entry ${entry.id} failed: ${message}`, advice)
      await refresh(context)
    },
  )
  await report(context, `${RUNNING} ${entry.id}…`)
}

const RUNNING = 'Running entry'

/** Removes the hint that an entry runs. */
function clearHint(context: SlashContext): void {
  if (context.state().hint.startsWith(RUNNING)) hint(context, '')
}

/** Shows a result below the table if that is open, otherwise under the prompt. */
async function report(context: SlashContext, text: string): Promise<void> {
  if (findPanel(context, 'cron')) await refresh(context, text)
  else hint(context, text)
}

/** Reads the open panel again; the cursor stays where it is. */
async function refresh(context: SlashContext, note = ''): Promise<void> {
  if (!findPanel(context, 'cron')) return
  const fresh = await readPanel(context).catch(() => undefined) // the panel shows what it was opened with
  const open = findPanel(context, 'cron')
  if (!open || !fresh) return
  const selected = Math.max(0, Math.min(open.selected, fresh.rows.length - 1))
  showOverlay(context, { ...fresh, selected, note: note || fresh.note })
}

async function readPanel({ ports }: SlashContext): Promise<Panel> {
  const { entries, notes } = await ports.schedules.list()
  return {
    kind: 'panel',
    picker: 'cron',
    title: 'Schedules',
    header: ['ID', 'NEXT', 'LAST', 'MESSAGE', 'SCHEDULE', 'GOES TO'],
    rows: entries.map(({ id, next, last, message, schedule, address, failure }) => ({
      value: String(id),
      cells: [`#${id}`, next, last || '-', message.replaceAll(/\s+/g, ' '), schedule, address],
      problem: failure,
    })),
    selected: 0,
    keys: KEYS,
    note: notes.join('; '),
  }
}

function entryPage(entry: ScheduledEntry, back: Panel | undefined): PageOverlay {
  const { id, message, schedule, address, times, last, failure } = entry
  const rows: [string, string][] = [
    ['message', message.replaceAll(/\s+/g, ' ')],
    ['schedule', schedule],
    ['goes to', address],
    ...times.map((time, at): [string, string] => [at === 0 ? 'next' : '', time]),
    ['last', [last || 'never', failure].filter(Boolean).join(': ')],
  ]
  return newPage(`Entry ${id}`, inColumns(rows), back)
}

const SHOWN_LINES = 5
