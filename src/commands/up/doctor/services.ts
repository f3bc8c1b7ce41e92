import type { ServiceRow } from '../../../up/ps/gather.ts'
import { removeStale } from '../../../up/ps/stale-files.ts'
import type { ServiceState } from '../../../up/ps/state.ts'
import { type Check, type Finding, note, ok, type Status, warning } from '../../doctor/check.ts'
import { MANAGER_NAMES } from '../service/said.ts'
import { lookAround, unitFactsOf, wantedSpec } from '../view/look-around.ts'
import { openPlace, type ViewPlace } from '../view/place.ts'

/** Which service manager there is, how every service stands, and whether its unit is what a start would write. */
export const checkServices: Check = async ({ host }, signal) => {
  const place = await openPlace(host, signal)
  const { manager, rows, notes } = await lookAround(place, signal, { keepsStale: true, withDisk: false })
  const found = await Promise.all(rows.map((row) => ofRow(row, place)))
  return [
    ok(`services are kept running by ${MANAGER_NAMES[manager.kind]}`),
    ...notes.map(({ message, hint }) => warning(message, hint)),
    ...found.flat(),
    ...(await staleFiles(rows, place, signal)),
  ]
}

async function ofRow(row: ServiceRow, place: ViewPlace): Promise<Finding[]> {
  const { name, state, pid, notes } = row
  const where = pid === undefined ? '' : ` (pid ${pid})`
  const found: Finding = { status: STATUSES[state], message: `${name} is ${state}${where}` }
  const more = notes.map(({ message, hint }) => warning(`${name}: ${message}`, hint))
  return [found, ...more, ...(row.isInstalled ? await unitFindings(name, place) : [])]
}

/** Whether a start would write another unit, for other reasons than another PATH. */
async function unitFindings(name: string, place: ViewPlace): Promise<Finding[]> {
  const [facts, spec] = [await unitFactsOf(place, name), wantedSpec(place, name)]
  if (!facts || !spec) return []
  const isOther = facts.argv.join('\0') !== spec.argv.join('\0')
  return [
    ...(facts.isEdited
      ? [note(`${name}: its unit was edited by hand`, 'a drop-in, or service.env, outlives updates')]
      : []),
    ...(isOther
      ? [
          warning(
            `${name}: its unit runs ${facts.argv.join(' ')}, and not ${spec.argv.join(' ')}`,
            `crabup ${name} restart writes it anew`,
          ),
        ]
      : []),
  ]
}

/** What services that have gone left in run/; --fix removes it. */
async function staleFiles(
  rows: readonly ServiceRow[],
  place: ViewPlace,
  signal: AbortSignal,
): Promise<Finding[]> {
  const resting = rows.filter(({ state }) => state === 'stale')
  const probed = await Promise.all(resting.map(({ name }) => place.probe(name, signal)))
  return probed.flatMap(({ leftover }) => {
    const { file, stamp } = leftover ?? {}
    if (file === undefined || stamp === undefined) return []
    const fix = { done: `${file} is removed`, apply: () => removeStale(file, stamp) }
    return [{ ...note(`${file} was left behind`, 'crabup ps removes it'), fix }]
  })
}

const STATUSES: Readonly<Record<ServiceState, Status>> = {
  ready: 'ok',
  starting: 'note',
  degraded: 'problem',
  crashed: 'problem',
  foreign: 'problem',
  stale: 'note',
  stopped: 'note',
  disabled: 'note',
}
