import { join } from 'node:path'
import { CrabError, ERROR_KINDS, toCrabError } from '../core/base/errors.ts'
import { LogFile } from '../core/base/log-file.ts'
import { userDirectory } from '../core/base/user.ts'
import { homePaths } from '../core/config/paths.ts'
import { serveTools as serve } from '../mcp/component/serve-component.ts'
import type {
  Component,
  ComponentAnswer,
  ComponentCall,
  ComponentResult,
  ComponentTool,
  ToolContent,
} from '../mcp/component/types.ts'

export type {
  Component,
  ComponentAnswer as ToolAnswer,
  ComponentCall as ToolCall,
  ComponentResult as ToolResult,
  ComponentTool,
  ToolContent,
}
// The entry `crabtalk/component` of the package.
export { CrabError }

/** The options of `serveComponent()`. */
export interface ServeComponentOptions {
  /** The home directory of the daemon, which must exist; by default $CRABTALK_HOME, else ~/.crabtalk. */
  home?: string
  /** Called when it is serving, with its port on 127.0.0.1. */
  onServing?(port: number): void
  /** The maximum bytes of a request; 4 MiB by default. */
  maxBodyBytes?: number
  /** The milliseconds that running calls get when it ends; 5000 by default. */
  graceMs?: number
}

/**
 * Serves tools to the agents of a home until the signal is aborted (ADR 0117): MCP over HTTP on 127.0.0.1,
 * announced in `run/<name>.port`, with a key in `run/<name>.key` and a log in `logs/<name>.log`. The files in
 * `run/` are removed at the end.
 *
 * Rejects with a CrabError: `invalid` for a component that cannot be offered, `config` without a home,
 * `storage` when files cannot be written, `conflict` when a component of that name is serving already. A
 * program that does nothing else calls runComponent() instead.
 */
export async function serveComponent(
  component: Component,
  options: ServeComponentOptions = {},
  signal: AbortSignal = new AbortController().signal,
): Promise<void> {
  const { home, ...rest } = options
  const env = home === undefined ? process.env : { ...process.env, CRABTALK_HOME: home }
  const paths = homePaths(env, { cwd: process.cwd(), homeDir: userDirectory() })
  const { pid } = process
  using log = new LogFile({ path: join(paths.logs, `${component.name}.log`), pid, now: Date.now })
  let withdraw = () => {}
  const onExit = () => withdraw()
  process.on('exit', onExit)
  const onAnnounced = (remove: () => void) => {
    withdraw = remove
  }
  try {
    const context = { home: paths.home, run: paths.run, pid, log: log.log, now: Date.now, onAnnounced }
    await serve(component, { ...rest, ...context }, signal)
  } finally {
    process.off('exit', onExit)
  }
}

/**
 * Runs a component as a whole program: serves until SIGTERM, SIGINT or SIGHUP, prints failures to standard
 * error and sets the exit code: 0 on success; 78 for problems that only the user can fix, such as a missing
 * home, so that service managers do not restart it; otherwise the code of the error table.
 *
 * A call that is still running afterwards gets two more seconds before the process exits.
 *
 * With `--version` or `--help` it prints that instead.
 */
export async function runComponent(component: Component, options: ServeComponentOptions = {}): Promise<void> {
  const [first] = process.argv.slice(2)
  if (first === '--version' || first === '--help') {
    process.stdout.write(first === '--version' ? `${component.version}\n` : formatHelp(component))
    return
  }
  const shutdown = new AbortController()
  const stop = () => shutdown.abort()
  for (const signal of SIGNALS) process.once(signal, stop)
  const onServing = (port: number) => {
    if (process.stderr.isTTY) process.stderr.write(`${component.name}: serves on 127.0.0.1:${port}\n`)
    options.onServing?.(port)
  }
  try {
    if (first !== undefined) {
      throw new CrabError(
        'usage',
        `Cannot start ${component.name}: it takes no arguments, but got "${first}"`,
      )
    }
    await serveComponent(component, { ...options, onServing }, shutdown.signal)
  } catch (reason) {
    const { kind, message, hint } = toCrabError(reason)
    process.stderr.write(`${component.name}: ${message}\n${hint ? `hint: ${hint}\n` : ''}`)
    process.exitCode = ERROR_KINDS[kind].exit
  } finally {
    for (const signal of SIGNALS) process.off(signal, stop)
    setTimeout(() => process.exit(), LEAVE_MS).unref() // a call that ignores its signal must not keep the process alive
  }
}

function formatHelp({ name, version, description, tools }: Component): string {
  const width = Math.max(...tools.map((tool) => tool.name.length))
  const lines = tools.map((tool) => `  ${tool.name.padEnd(width)}  ${tool.description.split('. ')[0]}`)
  return `${name} ${version}: ${description}

Serves these tools to the agents of $CRABTALK_HOME (~/.crabtalk) until it is stopped:
${lines.join('\n')}

As a service: crabup ${name} start
`
}

/** The time for running calls to end by themselves. */
const LEAVE_MS = 2_000

/** The signals with which users, shells and service managers end a program. */
const SIGNALS: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGINT', 'SIGHUP']
