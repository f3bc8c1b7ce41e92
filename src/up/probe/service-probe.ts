import { withDeadline } from '../../core/base/deadline.ts'
import { CrabError } from '../../core/base/errors.ts'
import type { HomePaths } from '../../core/config/paths.ts'
import type { Probe, ProbeService } from './types.ts'

/** The ports of serviceProbe(). */
export interface ServiceProbeOptions {
  paths: HomePaths
  /** Probes the daemon of the home over its socket. */
  daemon(signal: AbortSignal): Promise<Probe>
  /** The time to wait for an answer, in milliseconds; 3 s by default. */
  limitMs?: number | undefined
}

/**
 * Builds the probe of a home's services: the daemon over its socket, cron by its file run/cron.json, a
 * component over the port in its port file.
 */
export function serviceProbe({ paths, daemon, limitMs = LIMIT_MS }: ServiceProbeOptions): ProbeService {
  const probeByName = async (name: string, signal: AbortSignal): Promise<Probe> => {
    if (name === 'daemon') return await daemon(signal)
    if (name === 'cron') return await (await import('./probe-cron.ts')).probeCron(paths)
    return await (await import('./probe-component.ts')).probeComponent(name, paths, signal)
  }
  const problem = `it does not answer within ${limitMs / 1000} s`
  const deadline = { ms: limitMs, toError: () => new CrabError('timeout', problem) }
  return async (name, signal) => {
    const probe = async (soon: AbortSignal) => {
      const silent = Promise.withResolvers<Probe>()
      soon.addEventListener('abort', () => silent.resolve({ answers: false, problem }), { once: true })
      return await Promise.race([probeByName(name, soon), silent.promise])
    }
    return await withDeadline(probe, deadline, signal)
  }
}

const LIMIT_MS = 3000
