import type { ServiceStatus } from '../types.ts'
import { signalName } from './systemd-show.ts'

/** A job as `launchctl print DOMAIN/UID/LABEL` prints it, or undefined where there is none. */
export type PrintedJob = ReadonlyMap<string, string>

/** The lines `key = value` of the job itself, without those of its inner blocks. */
export function parseJob(text: string): PrintedJob {
  const lines = text.split('\n').flatMap((line) => line.match(/^\t([^\t=]+) = (.*)$/) ?? [])
  const job = new Map<string, string>()
  for (let index = 0; index + 2 < lines.length; index += 3) job.set(lines[index + 1]!, lines[index + 2]!)
  return job
}

/** Labels that `launchctl print-disabled DOMAIN/UID` calls disabled; older systems write `true`. */
export function parseDisabled(text: string): Set<string> {
  const found = text.matchAll(/^\s*"([^"]+)" => (?:disabled|true)$/gm)
  return new Set(Array.from(found, ([, label]) => label!))
}

/** A job as crabup speaks of services; launchd does not say since when it runs. */
export function toJobStatus(
  label: string,
  job: PrintedJob | undefined,
  { hasFile, isDisabled }: { hasFile: boolean; isDisabled: boolean },
): ServiceStatus {
  const status: ServiceStatus = {
    label,
    isInstalled: hasFile || job !== undefined,
    isEnabled: hasFile && !isDisabled,
    state: 'stopped',
  }
  if (!job) return status
  const lastExit = toExit(job)
  status.state = toState(job.get('state') ?? '', lastExit)
  const pid = Number(job.get('pid') ?? 0)
  if (pid > 0) status.pid = pid
  if (lastExit) status.lastExit = lastExit
  const runs = Number(job.get('runs') ?? 0)
  if (runs > 0) status.restarts = runs - 1
  return status
}

function toState(state: string, lastExit: ServiceStatus['lastExit']): ServiceStatus['state'] {
  const hasFailed = lastExit !== undefined && lastExit.code !== 0
  if (state === 'running') return 'running'
  if (/^SIGTERM|^SIGKILL|exiting/i.test(state)) return 'stopping'
  if (/spawn|waiting|xpcproxy/.test(state)) return hasFailed ? 'waiting' : 'starting'
  return hasFailed ? 'failed' : 'stopped'
}

/** `0`, `78: EX_CONFIG` or `(never exited)`; `Killed: 9`. A job that was killed has no code of that run. */
function toExit(job: PrintedJob): ServiceStatus['lastExit'] {
  const signal = job.get('last terminating signal')?.match(/(\d+)$/)
  if (signal) return { code: null, signal: signalName(Number(signal[1])) }
  const code = job.get('last exit code')?.match(/^\d+/)
  return code ? { code: Number(code[0]), signal: null } : undefined
}
