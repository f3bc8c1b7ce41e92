import { join } from 'node:path'
import type { CommandHandler } from '../../../cli/command.ts'
import type { Host } from '../../../cli/host.ts'
import { printJson } from '../../../cli/print.ts'
import { toCrabError } from '../../../core/base/errors.ts'
import { formatAge, formatMegabytes } from '../../../core/base/format.ts'
import { quoteWord } from '../../../core/base/quote-word.ts'
import { VERSION } from '../../../core/base/version.ts'
import { parseVariables } from '../../../core/config/env-file-text.ts'
import { findProblems } from '../../../core/config/find-problems.ts'
import { readTextFile } from '../../../core/config/load-config.ts'
import { readLastLines } from '../../../up/logs/last-lines.ts'
import { ownVariables } from '../../../up/own-env.ts'
import { gatherRows, type ServiceRow } from '../../../up/ps/gather.ts'
import type { ServiceState } from '../../../up/ps/state.ts'
import { MANAGER_NAMES } from '../../../up/services/manager-text.ts'
import { type OpenService, openService } from '../../../up/services/open-service.ts'
import { toEnvGrant } from '../../../up/services/service-spec.ts'
import { psJson } from '../view/ps-lines.ts'

/** `crabup NAME status`: shows one service with its last log lines. */
export const showServiceStatusCommand: CommandHandler = async ({
  path: [name = ''],
  options,
  host,
  signal,
}) => {
  const handle = await openService(host, name, signal)
  const { rows, problem } = await gatherRows([toServiceQuery(handle)], toGatherPorts(handle), signal)
  const row = rows[0]!
  const lines = await readLastLines(handle.paths.logs, name)
  if (problem !== undefined) host.stderr.write(`crabup: ${toCrabError(problem).message}\n`)
  const view = { row, lines, variables: await listVariables(handle) }
  if (options.has('json')) printJson(host, toJson(handle, view))
  else print(handle, view)
  return EXITS[row.state]
}

interface StatusView {
  row: ServiceRow
  /** The last lines of its log. */
  lines: readonly string[]
  /** The names of the variables of service.env that it receives. */
  variables: readonly string[]
}

async function listVariables({ paths, service }: OpenService<Host>): Promise<string[]> {
  const text = await readTextFile(paths.serviceEnv).catch(() => '') // doctor reports why it cannot be read
  const grant = toEnvGrant(service)
  return grant ? ownVariables(text ?? '', grant) : Object.keys(parseVariables(text ?? ''))
}

function toServiceQuery({ service, label }: OpenService<Host>) {
  return { name: service.name, label, version: service.version ?? VERSION }
}

function toGatherPorts({ manager, probe, paths }: OpenService<Host>) {
  return { manager, probe, findProblems: () => findProblems(paths), now: Date.now }
}

function print(handle: OpenService<Host>, { row, lines, variables }: StatusView): void {
  const { host } = handle
  host.stdout.write(`${[row.name, handle.service.description].filter(Boolean).join(': ')}\n`)
  for (const [key, value] of listFacts(handle, row, variables))
    host.stdout.write(`  ${key.padEnd(9)} ${value}\n`)
  for (const { message, hint } of row.notes) {
    host.stdout.write(`  ${'note'.padEnd(9)} ${message}${hint === undefined ? '' : `: ${hint}`}\n`)
  }
  if (lines.length > 0) host.stdout.write(`\n${lines.map((line) => `  ${line}\n`).join('')}`)
}

function listFacts(
  handle: OpenService<Host>,
  row: ServiceRow,
  variables: readonly string[],
): [string, string][] {
  const { manager, stopSpec: known, paths, service } = handle
  const unit = manager.unit(known)
  const isOwn = row.pid !== undefined && !row.isManaged // a note then reports how it was started
  return [
    ['state', row.state],
    ...fact('pid', row.pid),
    ...fact(
      'up',
      row.since === undefined ? undefined : formatAge(new Date(row.since).toISOString(), Date.now()),
    ),
    ...fact('memory', row.memoryBytes === undefined ? undefined : formatMemory(row)),
    ...fact('port', row.port),
    ...fact('version', row.version ?? row.versionOnDisk),
    ...fact('restarts', row.restarts || undefined),
    ['at login', row.isEnabled && manager.kind !== 'supervisor' ? 'starts' : 'does not start'],
    ['kept by', isOwn ? 'nothing' : describeManager(manager)],
    ...fact('unit', row.isInstalled ? unit?.path : undefined),
    ...fact('runs', isOwn ? undefined : known.argv.map(quoteWord).join(' ')),
    ...fact('env', variables.length > 0 ? variables.join(', ') : undefined),
    ['log', join(paths.logs, `${service.name}.log`)],
  ]
}

function describeManager({ kind, note }: OpenService<Host>['manager']): string {
  return `${MANAGER_NAMES[kind]}${note === undefined ? '' : ` (${note})`}`
}

function fact(key: string, value: string | number | undefined): [string, string][] {
  return value === undefined ? [] : [[key, String(value)]]
}

function formatMemory({ memoryBytes, processes = 1 }: ServiceRow): string {
  return `${formatMegabytes(memoryBytes)}${processes > 1 ? ` of ${processes} processes` : ''}`
}

function toJson(
  { manager, stopSpec: known, paths, service }: OpenService<Host>,
  { row, lines, variables }: StatusView,
) {
  return {
    ...psJson(row, Date.now()),
    description: service.description,
    manager: manager.kind,
    kept: row.isManaged,
    unit: manager.unit(known)?.path ?? null,
    argv: known.argv,
    variables,
    log: join(paths.logs, `${service.name}.log`),
    last_lines: lines,
  }
}

/** The exit codes; 0 and 3 are those of `systemctl status`. */
const EXITS: Readonly<Record<ServiceState, number>> = {
  ready: 0,
  starting: 69,
  degraded: 69,
  foreign: 69,
  crashed: 3,
  stopped: 3,
  disabled: 3,
  stale: 3,
}
