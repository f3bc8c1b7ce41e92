import { CrabError } from '../core/base/errors.ts'
import type { AgentConfig } from '../core/config/agent-schema.ts'
import type { McpEntry } from '../core/config/mcp-entry.ts'
import { homePaths } from '../core/config/paths.ts'
import { computeFingerprint, toTarget } from '../mcp/fingerprint.ts'
import { LOGIN_COMMAND, toLoginCommand } from '../mcp/remote/login-hint.ts'
import type { AttachingProcess } from './attaching-process.ts'
import { composeInProcess } from './in-process.ts'

/** Tries servers in this process, without an owner and apart from those of a daemon. */
export interface ServerTrials extends AsyncDisposable {
  /**
   * Starts the server of an entry, lists its tools and ends it. Identical entries share one start and its result. Throws
   * `credentials` or `unavailable` with the reason, without secrets.
   */
  tryServer(agent: TrialAgent, entry: McpEntry, signal: AbortSignal): Promise<TriedServer>
  /** Returns the last line that the server wrote to standard error; undefined when there is none. */
  readLastLine(agent: TrialAgent, entry: McpEntry): string | undefined
}

/** The result of a start. */
export interface TriedServer {
  tools: number
  startMs: number
}

/** Opens the trials of a home. Disposing ends what still runs. */
export async function openServerTrials(caller: AttachingProcess, signal: AbortSignal): Promise<ServerTrials> {
  const paths = homePaths(caller.env, { cwd: caller.cwd(), homeDir: caller.homeDir })
  await using opened = new AsyncDisposableStack()
  const services = opened.use(await composeInProcess(caller, paths))
  const servers = await services.mcp(signal)
  const owned = opened.move()
  const trials = new Map<string, Promise<TriedServer>>()
  const start = async (agent: TrialAgent, entry: McpEntry, limit: AbortSignal) => {
    const began = services.now()
    await using verified = await servers.verify(agent, entry, limit)
    return { tools: verified.tools.length, startMs: Math.round(services.now() - began) }
  }
  return {
    async tryServer(agent, entry, limit) {
      const owner = { agentId: agent.id, name: entry.name }
      const fingerprint = computeFingerprint(toTarget(entry, { home: paths.home, baseEnv: {} }), entry, owner)
      const trial = trials.getOrInsertComputed(fingerprint, () => start(agent, entry, limit))
      return await trial.catch((reason) => explainLogin(reason, entry.name, agent.name))
    },
    readLastLine(agent, entry) {
      const lines = servers.logs({ ...agent, mcps: [entry] }, entry.name)
      return lines.findLast((line) => line.trim() !== '' && !line.startsWith('[crabtalk: '))
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/** The agent that declares an entry: a server that is not shared belongs to it. */
type TrialAgent = Pick<AgentConfig, 'id' | 'name'>

/** Throws the reason with the command that logs in to a server that is declared already. */
function explainLogin(reason: unknown, server: string, agent: string): never {
  if (!(reason instanceof CrabError) || !reason.hint?.includes(`${LOGIN_COMMAND} `)) throw reason
  const { kind, message, cause } = reason
  throw new CrabError(kind, message, { cause, hint: toLoginCommand(server, agent) })
}
