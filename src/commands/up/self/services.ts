import { KINDS } from '../../../core/base/errors.ts'
import { KNOWN, labelOf } from '../../../up/names.ts'
import type { Host } from '../../host.ts'
import { openPlace, type ViewPlace } from '../view/place.ts'

/** What became of the services that ran the program that was replaced. */
export interface Settled {
  /** The exit code. */
  code: number
  /** Those that were told to restart, in order; the last of them failed where the code says so. */
  restarted: readonly string[]
}

/** Restarts the services that still run the program that was replaced until one fails, or says how. */
export async function settleServices(
  { program, restarts, host }: { program: string; restarts: boolean; host: Host },
  signal: AbortSignal,
): Promise<Settled> {
  const names = await namesOfRunning(host, signal)
  if (names.length === 0) return { code: 0, restarted: [] }
  if (restarts) return await restartServices(names, program, host)
  const verb = names.length > 1 ? 'run' : 'runs'
  const commands = names.map((name) => `crabup ${name} restart`).join(' && ')
  host.stderr.write(`${names.join(' and ')} still ${verb} the one before: ${commands}\n`)
  return { code: 0, restarted: [] }
}

/** Has a program restart services, which knows what they need. */
export async function restartServices(
  names: readonly string[],
  program: string,
  host: Host,
): Promise<Settled> {
  await Promise.all([host.stdout.flush(), host.stderr.flush()])
  const { runForeground } = await import('../../../core/process/foreground.ts')
  const restarted: string[] = []
  for (const name of names) {
    restarted.push(name)
    const code = await runForeground([program, '--as-crabup', name, 'restart'], host.env)
    if (code !== 0) return { code, restarted }
  }
  return { code: 0, restarted }
}

/** Whether a service cannot run with a program: it was not ready in time, or its configuration is wrong for that. */
export function isUnfit({ code }: Settled): boolean {
  return code === KINDS.unavailable.exit || code === KINDS.config.exit
}

/** Of the services that are this program; none where nobody can be asked. */
async function namesOfRunning(host: Host, signal: AbortSignal): Promise<string[]> {
  const place = await openPlace(host, signal).catch(() => undefined)
  if (!place) return []
  const own = KNOWN.filter(({ run }) => run !== undefined).map(({ name }) => name)
  const running = await Promise.all(own.map((name) => isRunning(name, place, signal)))
  return own.filter((_, index) => running[index])
}

async function isRunning(name: string, place: ViewPlace, signal: AbortSignal): Promise<boolean> {
  const [status] = await place.manager.status([labelOf(name, place.labels)], signal).catch(() => [])
  if (status !== undefined && status.state !== 'stopped' && status.state !== 'failed') return true
  return (await place.probe(name, signal)).answers
}
