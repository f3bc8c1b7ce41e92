import { type Check, type CheckResult, type CheckStatus, note, ok, warning } from '../../../cli/check.ts'
import type { ServiceRow } from '../../../up/ps/gather.ts'
import type { ServiceState } from '../../../up/ps/state.ts'
import { collectServices, fetchUnitFacts, findSpec } from '../../../up/services/collect-services.ts'
import { removeStale } from '../../../up/services/home-probe.ts'
import { MANAGER_NAMES } from '../../../up/services/manager-text.ts'
import { openServicesContext, type ServicesContext } from '../../../up/services/services-context.ts'

/** Checks the service manager, the state of every service, and whether its unit is what a start would write. */
export const checkServices: Check = async ({ host }, signal) => {
  const context = await openServicesContext(host, signal)
  const { manager, rows, notes } = await collectServices(context, signal, {
    keepsStale: true,
    withDisk: false,
  })
  const found = await Promise.all(rows.map((row) => checkRow(row, context)))
  return [
    ok(`services are kept running by ${MANAGER_NAMES[manager.kind]}`),
    ...notes.map(({ message, hint }) => warning(message, hint)),
    ...found.flat(),
    ...(await staleFiles(rows, context, signal)),
  ]
}

async function checkRow(row: ServiceRow, context: ServicesContext): Promise<CheckResult[]> {
  const { name, state, pid, notes } = row
  const where = pid === undefined ? '' : ` (pid ${pid})`
  const found: CheckResult = { status: STATUSES[state], message: `${name} is ${state}${where}` }
  const more = notes.map(({ message, hint }) => warning(`${name}: ${message}`, hint))
  return [found, ...more, ...(row.isInstalled ? await unitFindings(name, context) : [])]
}

/** Reports a unit that a start would rewrite, except because of another PATH. */
async function unitFindings(name: string, context: ServicesContext): Promise<CheckResult[]> {
  const [facts, spec] = [await fetchUnitFacts(context, name), findSpec(context, name)]
  if (!facts || !spec) return []
  const isOther = facts.argv.join('\0') !== spec.argv.join('\0')
  return [
    ...(facts.isEdited
      ? [
          note(
            `${name}: its unit was edited by hand`,
            'put changes into a drop-in or service.env, which updates keep',
          ),
        ]
      : []),
    ...(isOther
      ? [
          warning(
            `${name}: its unit runs ${facts.argv.join(' ')} instead of ${spec.argv.join(' ')}`,
            `crabup ${name} restart rewrites it`,
          ),
        ]
      : []),
  ]
}

/** Reports the files that services left behind in run/; --fix removes them. */
async function staleFiles(
  rows: readonly ServiceRow[],
  context: ServicesContext,
  signal: AbortSignal,
): Promise<CheckResult[]> {
  const resting = rows.filter(({ state }) => state === 'stale')
  const probed = await Promise.all(resting.map(({ name }) => context.probe(name, signal)))
  return probed.flatMap(({ leftover }) => {
    const { file, stamp } = leftover ?? {}
    if (file === undefined || stamp === undefined) return []
    const fix = { done: `removed ${file}`, apply: () => removeStale(file, stamp) }
    return [{ ...note(`${file} was left behind`, 'crabup ps removes it'), fix }]
  })
}

const STATUSES: Readonly<Record<ServiceState, CheckStatus>> = {
  ready: 'ok',
  starting: 'note',
  degraded: 'problem',
  crashed: 'problem',
  foreign: 'problem',
  stale: 'note',
  stopped: 'note',
  disabled: 'note',
}
