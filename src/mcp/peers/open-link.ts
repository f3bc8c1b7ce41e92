import type { Transport } from '@modelcontextprotocol/client'
import type { ProcessHost } from '../../core/process/types.ts'
import type { HttpVariant } from '../connection/connect.ts'
import type { ServerLink } from '../connection/link.ts'
import { type TracedPeer, tappedLines, tracedTransport } from '../connection/trace.ts'
import type { ServerTarget, StdioTarget } from '../fingerprint.ts'
import { runEnvHelper } from '../helper/env-helper.ts'
import { prepareHelper, type RunningProgram } from '../helper-program.ts'
import { listWithheld, serverEnvironment } from '../stdio/environment.ts'
import type { LineTail } from '../stdio/stderr-tail.ts'
import { openStdioLink } from '../stdio/stdio-link.ts'
import type { FrameTap } from '../types.ts'

/** The options for opening a link to a server that depend on its state. */
export interface OpenOptions {
  /** Used for remote servers only. */
  variant: HttpVariant
  /** Receives the server's standard error; for a remote server, notes about the connection. */
  log: LineTail
  /**
   * Returns the longest time, in milliseconds, that a request waits when the server asks to be retried later.
   */
  patienceMs(): number
  /** Receives the target with the variables of its env helper, before it is started. */
  onTarget(target: StdioTarget): void
}

/** The options of `openLink()`. */
export interface OpenLinkOptions extends OpenOptions {
  /** The server, which the messages on the link are attributed to. */
  peer: Omit<TracedPeer, 'now'>
  processes: ProcessHost
  /** The working directory of a target that has none of its own; absolute. */
  home: string
  /** The environment of this process; a server gets only the variables it needs. */
  env: Readonly<Record<string, string | undefined>>
  ownCommand?: RunningProgram['command']
  /** Milliseconds since 1970. */
  now(): number
  /** Sees every message. */
  frames?: FrameTap | undefined
}

/**
 * Opens a link to a server and reports its messages to the frame tap. Throws as ProcessHost.start(), runEnvHelper() or
 * openRemoteLink() does. The HTTP code is loaded only for targets with a URL.
 */
export async function openLink(options: OpenLinkOptions, signal: AbortSignal): Promise<ServerLink> {
  const { peer, frames, processes, env, home, log, now, variant, patienceMs } = options
  const note = (line: string) => log.push(Buffer.from(`${line}\n`))
  const target = await withHelperEnv({ ...options, note }, signal)
  const traced = { ...peer, target, now }
  log.onLines = frames && tappedLines(frames, traced)
  const watch = (inner: Transport) => (frames ? tracedTransport(inner, frames, traced) : inner)
  if (target.transport === 'stdio') {
    const own = serverEnvironment(env, target.env)
    const link = await openStdioLink({ processes, target, env: own, stderr: log, watch })
    const withheld = listWithheld(env).filter((name) => !Object.hasOwn(own, name))
    if (withheld.length > 0)
      log.note(
        `${withheld.join(', ')} not passed on, because it holds a password; [env] of config.toml passes it`,
      )
    return link
  }
  const { openRemoteLink } = await import('../remote/remote-link.ts')
  const protocol = variant === 'sse' ? 'sse' : 'http'
  const { authHelper: argv } = target
  const own = { command: options.ownCommand, env, home }
  const helper = argv && (await prepareHelper('auth_helper', { argv, env: serverEnvironment(env, {}) }, own))
  return await openRemoteLink(
    { target, protocol, processes, cwd: home, helper, patienceMs, now, note, watch },
    signal,
  )
}

/** Returns the target with the variables that its env helper prints, which override those of its entry. */
async function withHelperEnv(
  {
    peer: { target },
    processes,
    note,
    onTarget,
    ownCommand,
    env,
    home,
  }: OpenLinkOptions & { note(line: string): void },
  signal: AbortSignal,
): Promise<ServerTarget> {
  if (target.transport !== 'stdio' || !target.envHelper) return target
  const own = { command: ownCommand, env, home }
  const variables = await runEnvHelper({ argv: target.envHelper, processes, own, note }, signal)
  const started = { ...target, env: { ...target.env, ...variables } }
  onTarget(started)
  return started
}
