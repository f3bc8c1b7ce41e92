import type { CommandHandler } from '../../cli/command.ts'
import type { SignalName } from '../../cli/host.ts'
import { resolvePaths } from '../../cli/paths.ts'
import { SIGNAL_EXIT } from '../../cli/stop-controller.ts'
import { toVisible } from '../../core/base/visible.ts'
import { watchFolder } from '../../core/base/watch-folder.ts'
import { withoutProviderKeys } from '../../core/provider/provider-keys.ts'
import { attach } from '../../daemon/attach.ts'

/**
 * Runs `crabtalk mcp serve`: serves agents as an MCP server on standard input and output, until the input
 * ends.
 */
export const serveAgentsCommand: CommandHandler = async ({ options, host }) => {
  const stop = new AbortController()
  let ended: SignalName | undefined
  using _listening = host.onSignal((name) => {
    ended ??= name
    stop.abort()
  })
  host.stdout.onClosed = () => stop.abort()
  await using attached = await attach({ ...host, isInteractive: true }, { signal: stop.signal })
  const { serveAgents } = await import('../../mcp/serve/serve-agents.ts')
  const only = options.values('agent')
  const { agents } = resolvePaths(host)
  if (host.stdinKind() === 'terminal') host.stderr.write(FOR_A_PERSON)
  await serveAgents(
    {
      dispatch: attached.dispatch,
      only,
      cwd: host.cwd(),
      env: withoutProviderKeys(host.env),
      streams: { input: host.stdin(), write: (text) => host.stdout.write(text) },
      watch: (onChange) =>
        watchFolder({ folder: agents, isWatched: (file) => file.endsWith('.toml'), look: onChange }),
      log: (line) => void host.stderr.write(`crabtalk: ${toVisible(line)}\n`),
    },
    stop.signal,
  )
  return ended === undefined ? 0 : SIGNAL_EXIT[ended]
}

const FOR_A_PERSON =
  'crabtalk: programs that speak MCP start this by themselves (docs/mcp-serve.md); press Ctrl+D to end it\n'
