import { KNOWN, labelOf } from '../../../up/names.ts'
import type { Host } from '../../host.ts'
import { openPlace, type ViewPlace } from '../view/place.ts'

/** Restarts the services that still run the program that was replaced, or says how. Gives the exit code. */
export async function settleServices(
  { program, restarts, host }: { program: string; restarts: boolean; host: Host },
  signal: AbortSignal,
): Promise<number> {
  const names = await namesOfRunning(host, signal)
  if (names.length === 0) return 0
  if (!restarts) {
    const verb = names.length > 1 ? 'run' : 'runs'
    const commands = names.map((name) => `crabup ${name} restart`).join(' && ')
    host.stderr.write(`${names.join(' and ')} still ${verb} the one before: ${commands}\n`)
    return 0
  }
  await Promise.all([host.stdout.flush(), host.stderr.flush()])
  const { runForeground } = await import('../../../core/process/foreground.ts')
  const codes: number[] = []
  // The new program restarts them: it knows what its services need.
  for (const name of names) {
    codes.push(await runForeground([program, '--as-crabup', name, 'restart'], host.env))
  }
  return Math.max(...codes)
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
