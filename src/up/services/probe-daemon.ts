import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { toCrabError } from '../../core/base/errors.ts'
import type { HomePaths } from '../../core/config/paths.ts'
import { request } from '../../core/protocol/dispatch.ts'
import { type DaemonTarget, daemonEndpoint, findDaemon } from '../../daemon/find-daemon.ts'
import { readStaleStamp } from '../probe/stale-files.ts'
import type { Probe } from '../probe/types.ts'

/** Probes the daemon of a home and reads its stats. */
export async function probeDaemon(target: DaemonTarget, signal: AbortSignal): Promise<Probe> {
  try {
    const stamp = await readStaleStamp(portFilePath(target.paths), Date.now())
    const found = await findDaemon(target, signal)
    if (!found) return { answers: false, ...(await findLeftover(target, stamp)) }
    if (found.olderAt !== undefined)
      return { answers: false, isForeign: true, problem: 'it speaks an older protocol (no hello)' }
    const { pid, build: version, home, ...stats } = await request(found.dispatch, 'getStats', {}, signal)
    if (home !== target.paths.home)
      return { answers: false, isForeign: true, pid, problem: `it belongs to ${home}` }
    const port = findTcpPort(stats.endpoints)
    return {
      ...{ answers: true, pid, version, since: Date.now() - stats.uptimeSecs * 1000 },
      ...(port !== undefined && { port }),
      ...(stats.idleExitMs !== undefined && { idleExitMs: stats.idleExitMs }),
    }
  } catch (reason) {
    const { kind, message } = toCrabError(reason)
    const problem = message.replace(/^Cannot [^:]*: /, '')
    return kind === 'invalid' ? { answers: false, isForeign: true, problem } : { answers: false, problem }
  }
}

/**
 * Finds what a killed daemon leaves behind: the port file of its TCP listener, and its socket, which the next
 * daemon replaces.
 */
async function findLeftover(
  target: DaemonTarget,
  stamp: string | undefined,
): Promise<Pick<Probe, 'leftover'>> {
  if (stamp !== undefined) return { leftover: { file: portFilePath(target.paths), stamp } }
  const { endpoint } = daemonEndpoint(target)
  return endpoint.kind === 'unix' && existsSync(endpoint.path) ? { leftover: { file: endpoint.path } } : {}
}

function portFilePath({ run }: Pick<HomePaths, 'run'>): string {
  return join(run, 'crabtalk.port')
}

/** Returns the port of the TCP listener, if there is one. */
function findTcpPort(endpoints: readonly string[]): number | undefined {
  const tcp = endpoints.find((endpoint) => endpoint.startsWith('tcp:'))
  return tcp === undefined ? undefined : Number(tcp.slice(tcp.lastIndexOf(':') + 1))
}
