import { stat } from 'node:fs/promises'
import type { CommandHandler, ParsedOptions } from '../../../cli/command.ts'
import type { Host } from '../../../cli/host.ts'
import { readAgentFiles, toAgent } from '../../../core/config/agent-files.ts'
import { wantsComponent } from '../../../core/config/component.ts'
import { markLogs } from '../../../up/logs/last-lines.ts'
import { describeLastExit } from '../../../up/ps/state.ts'
import {
  fetchStatus,
  hasOtherSpec,
  type OpenService,
  openService,
  truncateOutput,
} from '../../../up/services/open-service.ts'
import { servicePath } from '../../../up/services/spec-context.ts'
import type { ServiceStatus } from '../../../up/types.ts'
import { requireValidConfiguration } from './check-configuration.ts'
import { isDryRun, printPlan } from './dry-run.ts'
import { hasOther, replaceOnDemandDaemon } from './other-daemon.ts'
import { printReady } from './print-ready.ts'
import { showEdits } from './unit-diff.ts'

/** `crabup NAME start`: runs a service now and at login, and waits until it is ready. */
export const startServiceCommand: CommandHandler = async ({ path: [name = ''], options, host, signal }) => {
  const handle = await openService(host, name, signal)
  await requireValidConfiguration(handle)
  if (isDryRun(options)) return await printPlan(handle, 'start')
  if (name === 'daemon') {
    await hasOther(handle, signal) // refuses before the user is asked for keys that would not be used
    await (await import('./first-run.ts')).firstRun(handle, signal)
  }
  return await startService(handle, { options }, signal)
}

/**
 * Starts a service whose configuration was checked, prints one line and returns the exit code. Throws
 * NotReadyError.
 */
export async function startService(
  handle: OpenService<Host>,
  { options }: { options: ParsedOptions },
  signal: AbortSignal,
): Promise<number> {
  const { host, service, manager, paths } = handle
  const before = await fetchStatus(handle, signal)
  const ran = before.state === 'running' || before.state === 'starting'
  const isSame = (after: ServiceStatus) => ran && (before.pid === undefined || before.pid === after.pid)
  if (before.state === 'waiting' || before.state === 'failed') warnEarlierCrash(handle, before)
  await replaceOnDemandDaemon(handle, { now: options.has('now') }, signal)
  const spec = handle.spec()
  if (!ran && !handle.context.hasOwnPath) warnTransientPath(host)
  const hasChanged = (await showEdits(handle, spec, { options }, signal)) || hasOtherSpec(handle, spec)
  if (!ran) truncateOutput(spec.output) // nothing writes to it while the service is stopped
  const since = await markLogs(paths.logs, service.name)
  await manager.start(spec, signal)
  const word = (after: ServiceStatus) => (isSame(after) ? 'is already running' : 'is ready')
  const after = await printReady(handle, { word, since, isFirst: !before.isInstalled }, signal)
  const changed = hasChanged ? 'its unit has changed' : (await isNewer(spec.envFile, after)) && ENV_CHANGED
  if (isSame(after) && changed) {
    host.stderr.write(`crabup: ${changed}: crabup ${service.name} restart applies it\n`)
  }
  if (!before.isInstalled && service.package !== undefined) await warnUnusedTools(handle)
  return 0
}

/**
 * Whether a file was written after a service began; allows one second, because a service manager may report
 * whole seconds only.
 */
async function isNewer(path: string, { since }: ServiceStatus): Promise<boolean> {
  const stats = await stat(path).catch(() => undefined) // the file is optional
  return stats !== undefined && since !== undefined && stats.mtimeMs > since + 1000
}

/** Warns about an earlier crash, because the service may end the same way again. */
function warnEarlierCrash({ host, service: { name } }: OpenService<Host>, before: ServiceStatus): void {
  host.stderr.write(
    `crabup: ${name} had crashed (${describeLastExit(before)}); see why: crabup ${name} logs\n`,
  )
}

/** Warns when no agent asks for the tools of a component. */
async function warnUnusedTools({ host, service: { name }, paths }: OpenService<Host>): Promise<void> {
  const agents = await Promise.all((await readAgentFiles(paths.agents)).map(toAgent))
  if (agents.some((agent) => agent.ok && wantsComponent(agent.value, name))) return
  host.stderr.write(
    `crabup: no agent uses it yet: components = ["${name}"] in agents/NAME.toml gives an agent its tools\n`,
  )
}

/** Warns when the service depends on a directory of one Node version, which an update of Node removes. */
function warnTransientPath(host: Host): void {
  const { versionedNode } = servicePath(host)
  if (versionedNode === undefined) return
  host.stderr.write(
    `crabup: Node is only in ${versionedNode}, which the next Node update removes; restart services after that update\n`,
  )
}

const ENV_CHANGED = 'service.env has changed since'
