import { CrabError } from '../../core/base/errors.ts'
import { type LogPosition, readLastLines } from '../logs/last-lines.ts'
import { findAnnouncedName } from '../probe/announced-names.ts'
import type { Probe } from '../probe/types.ts'
import { waitUntilServiceReady } from '../ps/wait-until-ready.ts'
import type { OpenService } from './open-service.ts'

/** The error for a service that was started but is not ready. */
export class NotReadyError extends CrabError {
  /** The lines it has logged since it was started. */
  readonly lines: readonly string[]

  constructor(name: string, why: string, lines: readonly string[]) {
    super('unavailable', `Cannot confirm that ${name} is ready: it was started, but ${why}`, {
      hint: `crabup ${name} logs shows more`,
    })
    this.lines = lines
  }
}

/** Waits until a started service is ready. Throws NotReadyError with the lines it logged after `since`. */
export async function waitReady(at: OpenService, since: LogPosition, signal: AbortSignal): Promise<Probe> {
  const { service, label, manager, probe, paths } = at
  const otherName = (pid: number) => findAnnouncedName(pid, { paths, probe, name: service.name }, signal)
  const ports = { manager, probe, now: Date.now, otherName }
  const outcome = await waitUntilServiceReady({ name: service.name, label }, ports, signal)
  if (outcome.isReady) return outcome.probe
  throw new NotReadyError(service.name, outcome.why, await readLastLines(paths.logs, service.name, { since }))
}
