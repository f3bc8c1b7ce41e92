import { markLogs } from '../../../up/control/last-words.ts'
import type { Host } from '../../host.ts'
import { isKept, openService, statusOf } from './open-service.ts'
import { waitReady } from './ready.ts'

/** For what changes the program of a service: restarts it where it runs, and waits until it is ready. Fails with NotReady, which has what it said. */
export async function restartRunning(
  host: Host,
  name: string,
  signal: AbortSignal,
): Promise<'ready' | 'not-running'> {
  const at = await openService(host, name, signal)
  if (!isKept(await statusOf(at, signal))) return 'not-running'
  const mark = await markLogs(at.paths.logs, name)
  await at.manager.restart(at.spec(), signal)
  await waitReady(at, mark, signal)
  return 'ready'
}

/** Whether its service manager keeps a service running, or tries to. */
export async function isServiceRunning(host: Host, name: string, signal: AbortSignal): Promise<boolean> {
  return isKept(await statusOf(await openService(host, name, signal), signal))
}

/** Ends a service and takes it from its service manager; call it before its program goes. */
export async function removeService(host: Host, name: string, signal: AbortSignal): Promise<void> {
  const { manager, label } = await openService(host, name, signal)
  await manager.remove(label, signal)
}
