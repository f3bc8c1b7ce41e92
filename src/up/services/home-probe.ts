import type { HomePaths } from '../../core/config/paths.ts'
import { serviceProbe } from '../probe/service-probe.ts'
import type { ProbeService } from '../probe/types.ts'

export { removeStale } from '../probe/stale-files.ts'

/** The home whose services are probed. */
export interface HomeProbeOptions {
  paths: HomePaths
  env: Readonly<Record<string, string | undefined>>
  uid: number
  /** The time to wait for an answer, in milliseconds; 3 s by default. */
  limitMs?: number
}

/** Builds the probe of a home's services, including its daemon, whose client is loaded when it is needed. */
export function homeProbe({ paths, env, uid, limitMs }: HomeProbeOptions): ProbeService {
  return serviceProbe({
    paths,
    limitMs,
    daemon: async (signal) => (await import('./probe-daemon.ts')).probeDaemon({ paths, env, uid }, signal),
  })
}
