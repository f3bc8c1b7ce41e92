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
  return async (name, signal) => {
    const limit = new AbortController()
    const timer = setTimeout(() => limit.abort(), limitMs)
    const soon = AbortSignal.any([signal, limit.signal])
    const silent = Promise.withResolvers<Probe>()
    const late = { answers: false, problem: `it does not answer within ${limitMs / 1000} s` }
    soon.addEventListener('abort', () => silent.resolve(late), { once: true })
    try {
      return await Promise.race([probeByName(name, soon), silent.promise])
    } finally {
      clearTimeout(timer)
      limit.abort()
    }
  }
}

const LIMIT_MS = 3000
