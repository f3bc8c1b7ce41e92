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
  /** Working directory of what has none of its own; absolute. */
  home: string
  /** Environment of this process, of which a server gets what it needs. */
  env: Readonly<Record<string, string | undefined>>
  /** Milliseconds since 1970. */
  now(): number
  /** Gives a transport in its place whose messages somebody sees. */
  watch(transport: Transport): Transport
}

/**
 * Opens a way to a server, as its target says. Fails as ProcessHost.start() or openRemoteLink() do. What speaks HTTP is
 * loaded for servers that are reached by it.
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
