import type { Transport } from '@modelcontextprotocol/client'
import type { ProcessHost } from '../../core/process/types.ts'
import type { ServerTarget } from '../fingerprint.ts'
import type { OpenOptions } from '../peers/peer-types.ts'
import { serverEnvironment } from '../stdio/environment.ts'
import { openStdioLink } from '../stdio/stdio-link.ts'
import type { ServerLink } from './link.ts'

export interface OpenLinkOptions extends OpenOptions {
  target: ServerTarget
  processes: ProcessHost
  /** The working directory of a target that has none of its own; absolute. */
  home: string
  /** The environment of this process; a server gets only the variables it needs. */
  env: Readonly<Record<string, string | undefined>>
  /** Milliseconds since 1970. */
  now(): number
  /** Returns a transport that reports its messages to the frame tap, or the same one when there is none. */
  watch(transport: Transport): Transport
}

/**
 * Opens a link to a target. Throws as ProcessHost.start() or openRemoteLink() does. The HTTP code is loaded
 * only for targets with a URL.
 */
export async function openServerLink(options: OpenLinkOptions, signal: AbortSignal): Promise<ServerLink> {
  const { target, processes, env, home, log, watch } = options
  if (target.transport === 'stdio') {
    const own = serverEnvironment(env, target.env)
    return await openStdioLink({ processes, target, env: own, stderr: log, watch })
  }
  const { openRemoteLink } = await import('../remote/remote-link.ts')
  const note = (line: string) => log.push(Buffer.from(`${line}\n`))
  const { now, patienceMs, way } = options
  const over = way === 'sse' ? 'sse' : 'http'
  return await openRemoteLink(
    { target, over, processes, cwd: home, env: serverEnvironment(env, {}), patienceMs, now, note, watch },
    signal,
  )
}
