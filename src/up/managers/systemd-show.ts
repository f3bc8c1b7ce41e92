import { constants } from 'node:os'
import type { ServiceStatus } from '../types.ts'

/** The queried unit properties; `systemctl show` prints them as `NAME=value`, one block for each unit. */
export const SHOWN_PROPERTIES = [
  'LoadState',
  'FragmentPath',
  'UnitFileState',
  'ActiveState',
  'SubState',
  'MainPID',
  'NRestarts',
  'NeedDaemonReload',
  'ExecMainStartTimestamp',
  'ExecMainCode',
  'ExecMainStatus',
] as const

/** The properties of a unit that `systemctl show` printed. */
export type ShownUnit = Partial<Record<(typeof SHOWN_PROPERTIES)[number], string>>

/** Parses the output of `systemctl show` into units, in the order of the query. */
export function parseShown(text: string): ShownUnit[] {
  return text
    .trim()
    .split(/\n{2,}/)
    .map((block) =>
      Object.fromEntries(block.split('\n').map((line) => line.split(/=(.*)/s, 2) as [string, string])),
    )
}

/** Converts a unit to a service status; `systemctl` must have run with TZ=UTC. */
export function toStatus(label: string, unit: ShownUnit): ServiceStatus {
  const status: ServiceStatus = {
    label,
    isInstalled: unit.LoadState !== undefined && unit.LoadState !== 'not-found',
    isEnabled: unit.UnitFileState?.startsWith('enabled') ?? false,
    state: toState(unit),
  }
  const pid = Number(unit.MainPID ?? 0)
  if (pid > 0) {
    status.pid = pid
    const since = toTime(unit.ExecMainStartTimestamp ?? '')
    if (since !== undefined) status.since = since
  }
  if (unit.NRestarts !== undefined) status.restarts = Number(unit.NRestarts)
  const lastExit = toExit(unit)
  if (lastExit) status.lastExit = lastExit
  return status
}

function toState({ ActiveState, SubState }: ShownUnit): ServiceStatus['state'] {
  if (ActiveState === 'activating') return SubState === 'auto-restart' ? 'waiting' : 'starting'
  if (ActiveState === 'active' && SubState === 'exited') return 'stopped'
  return STATES[ActiveState ?? ''] ?? 'stopped'
}

const STATES: Readonly<Record<string, ServiceStatus['state']>> = {
  active: 'running',
  reloading: 'running',
  deactivating: 'stopping',
  failed: 'failed',
}

/** Parses times such as `Sun 2026-11-22 05:56:32 UTC`; some versions add a fraction. */
function toTime(text: string): number | undefined {
  const found = text.match(/^\w+ (\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d{1,3})?)\d* UTC$/)
  return found ? Date.parse(`${found[1]}T${found[2]}Z`) : undefined
}

/**
 * `ExecMainCode` is the si_code of waitid(2): 1 exited, 2 killed, 3 dumped core; 0 while no process has
 * ended.
 */
function toExit({ ExecMainCode, ExecMainStatus = '0' }: ShownUnit): ServiceStatus['lastExit'] {
  const status = Number(ExecMainStatus)
  if (ExecMainCode === '1') return { code: status, signal: null }
  if (ExecMainCode === '2' || ExecMainCode === '3') return { code: null, signal: signalName(status) }
  return undefined
}

/** Returns the name of a signal by its number on this platform. */
export function signalName(number: number): string {
  return Object.entries(constants.signals).find(([, value]) => value === number)?.[0] ?? `signal ${number}`
}
