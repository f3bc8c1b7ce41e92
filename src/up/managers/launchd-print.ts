import type { ServiceStatus } from '../types.ts'
import { signalName } from './systemd-show.ts'

/** The properties of a job that `launchctl print DOMAIN/UID/LABEL` prints. */
export type PrintedJob = ReadonlyMap<string, string>

/** Parses the `key = value` lines of the job itself; lines of nested blocks are ignored. */
export function parseJob(text: string): PrintedJob {
  const lines = text.split('\n').flatMap((line) => line.match(/^\t([^\t=]+) = (.*)$/) ?? [])
  const job = new Map<string, string>()
  for (let index = 0; index + 2 < lines.length; index += 3) job.set(lines[index + 1]!, lines[index + 2]!)
  return job
}

/**
 * Returns the labels that `launchctl print-disabled DOMAIN/UID` lists as disabled; older systems print
 * `true`.
 */
export function parseDisabled(text: string): Set<string> {
  const found = text.matchAll(/^\s*"([^"]+)" => (?:disabled|true)$/gm)
  return new Set(Array.from(found, ([, label]) => label!))
}

/** Converts a job to a service status. launchd does not report since when a job runs. */
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

/**
 * Parses the last exit: the code is `0`, `78: EX_CONFIG` or `(never exited)`, the signal `Killed: 9`. The
 * exit code of a killed job is that of an earlier run.
 */
function toExit(job: PrintedJob): ServiceStatus['lastExit'] {
  const signal = job.get('last terminating signal')?.match(/(\d+)$/)
  if (signal) return { code: null, signal: signalName(Number(signal[1])) }
  const code = job.get('last exit code')?.match(/^\d+/)
  return code ? { code: Number(code[0]), signal: null } : undefined
}
