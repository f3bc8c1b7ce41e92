import { realpathSync } from 'node:fs'
import { readlink } from 'node:fs/promises'
import type { Host } from '../../../cli/host.ts'
import { ERROR_KINDS } from '../../../core/base/errors.ts'
import { KNOWN_SERVICES, toServiceLabel } from '../../../up/names.ts'
import { fetchUnitFacts } from '../../../up/services/collect-services.ts'
import { openServicesContext, type ServicesContext } from '../../../up/services/services-context.ts'

/** The result of restarting the services that ran the replaced program. */
export interface RestartResult {
  /** The exit code. */
  code: number
  /** The services that run the new program, in order of their restart. */
  restarted: readonly string[]
  /** The service whose restart failed; `isUntouched` when its previous process is still running. */
  failed?: { name: string; isUntouched: boolean }
}

/** The program to restart services with, which is also the one they run, and the host. */
export interface RestartContext {
  program: string
  host: Host
}

/**
 * Restarts the services that still run the replaced program, stopping at the first failure; without
 * `restarts`, only prints the commands.
 */
export async function restartOutdatedServices(
  { program, restarts, host }: RestartContext & { restarts: boolean },
  signal: AbortSignal,
): Promise<RestartResult> {
  const names = await listRunningNames({ program, host }, signal)
  if (names.length === 0) return { code: 0, restarted: [] }
  if (restarts) return await restartServices(names, { program, host }, signal)
  const verb = names.length > 1 ? 'run' : 'runs'
  const commands = names.map((name) => `crabup ${name} restart`).join(' && ')
  host.stderr.write(`${names.join(' and ')} still ${verb} the previous version: ${commands}\n`)
  return { code: 0, restarted: [] }
}

/** Restarts services by running the new program, which knows what its version requires. */
export async function restartServices(
  names: readonly string[],
  { program, host }: RestartContext,
  signal: AbortSignal,
): Promise<RestartResult> {
  await Promise.all([host.stdout.flush(), host.stderr.flush()])
  const { runForeground } = await import('../../../core/process/foreground.ts')
  const restarted: string[] = []
  for (const name of names) {
    const before = await findPid(name, host, signal)
    const code = await runForeground([program, '--as-crabup', name, 'restart'], host.env)
    if (code !== 0) {
      const after = await findPid(name, host, signal)
      return { code, restarted, failed: { name, isUntouched: before !== undefined && before === after } }
    }
    restarted.push(name)
  }
  return { code: 0, restarted }
}

/** Whether a restart failed for any reason other than an interruption by the user. */
export function isRestartFailure({ code }: RestartResult): boolean {
  return code !== 0 && code !== ERROR_KINDS.cancelled.exit
}

/** Lists the built-in services that run this program; empty when the service manager cannot be queried. */
async function listRunningNames({ program, host }: RestartContext, signal: AbortSignal): Promise<string[]> {
  const context = await openServicesContext(host, signal).catch(() => undefined)
  if (!context) return []
  const own = KNOWN_SERVICES.filter(({ run }) => run !== undefined).map(({ name }) => name)
  const running = await Promise.all(own.map((name) => runsProgram(name, { context, program }, signal)))
  return own.filter((_, index) => running[index])
}

async function runsProgram(
  name: string,
  { context, program }: { context: ServicesContext; program: string },
  signal: AbortSignal,
): Promise<boolean> {
  const [status] = await context.manager
    .status([toServiceLabel(name, context.labels)], signal)
    .catch(() => [])
  const isUp = status !== undefined && status.state !== 'stopped' && status.state !== 'failed'
  const probe = isUp ? undefined : await context.probe(name, signal)
  if (!isUp && !probe?.answers) return false
  const pid = status?.pid ?? probe?.pid
  const unit = isUp ? (await fetchUnitFacts(context, name))?.argv[0] : undefined
  const files = [pid === undefined ? undefined : await readExecutable(pid), unit]
  const known = files.filter((file) => file !== undefined)
  return known.length === 0 || known.some((file) => toReal(file) === toReal(program))
}

/**
 * Returns the file that a process was started from, which Linux reports even when another file has its name
 * now.
 */
async function readExecutable(pid: number): Promise<string | undefined> {
  const file = await readlink(`/proc/${pid}/exe`).catch(() => undefined) // another platform, or another user's process
  return file?.replace(/ \(deleted\)$/, '')
}

async function findPid(name: string, host: Host, signal: AbortSignal): Promise<number | undefined> {
  const context = await openServicesContext(host, signal).catch(() => undefined)
  if (!context) return undefined
  const [status] = await context.manager
    .status([toServiceLabel(name, context.labels)], signal)
    .catch(() => [])
  return status?.pid
}

function toReal(file: string): string {
  try {
    return realpathSync(file)
  } catch {
    return file // the file is gone, so compare its name
  }
}
