import { CrabError } from '../../../core/base/errors.ts'
import { type LogMark, lastWords } from '../../../up/control/last-words.ts'
import { untilReady } from '../../../up/control/until-ready.ts'
import type { Probe } from '../../../up/probe.ts'
import { announcedBy } from '../probe/announced.ts'
import type { OpenService } from './open-service.ts'

/** A service that was started and is not ready. */
export class NotReady extends CrabError {
  /** What it has written since it was started. */
  readonly lines: readonly string[]

  constructor(name: string, why: string, lines: readonly string[]) {
    super('unavailable', `Cannot have ${name} ready: it was started, but ${why}`, {
      hint: `crabup ${name} logs shows more`,
    })
    this.lines = lines
  }
}

/** Waits until a service that was started is ready. Fails with NotReady, which has what it wrote behind that mark. */
export async function waitReady(at: OpenService, since: LogMark, signal: AbortSignal): Promise<Probe> {
  const { service, label, manager, probe, paths } = at
  const otherName = (pid: number) => announcedBy(pid, { paths, probe, name: service.name }, signal)
  const ports = { manager, probe, now: Date.now, otherName }
  const outcome = await untilReady({ name: service.name, label }, ports, signal)
  if (outcome.isReady) return outcome.probe
  throw new NotReady(service.name, outcome.why, await lastWords(paths.logs, service.name, { since }))
}
