import type { HomePaths } from '../../../core/config/paths.ts'
import type { Probe, ProbeService } from '../../../up/probe.ts'

/** The home whose services are probed. */
export interface ProbeOptions {
  paths: HomePaths
  env: Readonly<Record<string, string | undefined>>
  uid: number
  /** The time to wait for an answer, in milliseconds; 3 s by default. */
  limitMs?: number
}

/**
 * Builds the probe of a home's services: the daemon over its socket, cron by its file run/cron.json, a
 * component over the port in its port file.
 */
export function serviceProbe({ limitMs = LIMIT_MS, ...place }: ProbeOptions): ProbeService {
  return async (name, signal) => {
    const limit = new AbortController()
    const timer = setTimeout(() => limit.abort(), limitMs)
    const soon = AbortSignal.any([signal, limit.signal])
    const silent = Promise.withResolvers<Probe>()
    const late = { answers: false, problem: `it does not answer within ${limitMs / 1000} s` }
    soon.addEventListener('abort', () => silent.resolve(late), { once: true })
    try {
      return await Promise.race([probeByName(name, place, soon), silent.promise])
    } finally {
      clearTimeout(timer)
      limit.abort()
    }
  }
}

async function probeByName(name: string, place: ProbeOptions, signal: AbortSignal): Promise<Probe> {
  if (name === 'daemon') return (await import('./probe-daemon.ts')).probeDaemon(place, signal)
  if (name === 'cron') return (await import('./probe-cron.ts')).probeCron(place.paths)
  return (await import('./probe-component.ts')).probeComponent(name, place.paths, signal)
}

const LIMIT_MS = 3000
