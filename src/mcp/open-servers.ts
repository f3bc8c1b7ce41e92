import { join } from 'node:path'
import { waitAtMost } from '../core/base/deadline.ts'
import { exceedsShownTools } from '../core/base/tool-limits.ts'
import type { McpEntry } from '../core/config/mcp-entry.ts'
import type { ProcessHost } from '../core/process/types.ts'
import type { McpServerEvent } from '../core/runtime/events.ts'
import type { TargetDefaults } from './fingerprint.ts'
import type { RunningProgram } from './helper-program.ts'
import { mcpHook, startEager } from './hook/mcp-hook.ts'
import { ToolLists } from './hook/tool-lists.ts'
import { Peers } from './peers/peers.ts'
import { ServerMemory } from './peers/server-memory.ts'
import { openResourcesAndPrompts } from './resources-prompts.ts'
import { describeDeclaration, openServerCalls } from './server-calls.ts'
import { isVisibleTool } from './tools/entry-filter.ts'
import type { FrameTap, McpServers } from './types.ts'
import { viewPeer, viewServers } from './views.ts'

/** The options of `openMcpServers()`. */
export interface McpOptions extends TargetDefaults {
  processes: ProcessHost
  /** The server records are stored in its folder `mcp`; absolute, may be missing. */
  cacheDir: string
  /** The environment of this process; a server gets only the variables it needs. */
  env: Readonly<Record<string, string | undefined>>
  ownCommand?: RunningProgram['command']
  /** Milliseconds since 1970. */
  now(): number
  /** Waits for a time in milliseconds without keeping the process alive. Rejects when aborted. */
  wait(ms: number, signal: AbortSignal): Promise<unknown>
  /**
   * Whether servers start in advance although their tools are remembered. A process that serves one command
   * leaves them to the first call (ADR 0216).
   */
  startsKnown: boolean
  /** The defaults of entries, below their own keys. */
  entryDefaults?: Partial<McpEntry>
  /** The folder of the logs of servers, absolute; without it they are in memory only. */
  logDir?: string
  /** Receives every server event, once for each owner. Must not throw. */
  onEvent?(event: McpServerEvent): void
  /** Sees every message of every connection. */
  frames?: FrameTap
}

/**
 * Opens the MCP servers of a node. Nothing is read, loaded or started until an agent with servers is
 * registered or runs a turn.
 */
export function openMcpServers(options: McpOptions): McpServers {
  const { cacheDir, now, onEvent, startsKnown } = options
  const memory = new ServerMemory(join(cacheDir, 'mcp'))
  const peers = new Peers({ ...options, memory })
  if (onEvent) peers.listen((event) => onEvent(event))
  const lists = new ToolLists(peers)
  return {
    hook: mcpHook({ peers, lists, now, startsKnown }),
    peers: () => peers.all().map(viewPeer),
    view(agent) {
      const servers = viewServers(
        agent,
        agent.mcps.map((entry) => describeDeclaration(entry, agent, { peers, memory })),
      )
      const shownTools = servers.flatMap(({ tools }) => tools).filter(isVisibleTool)
      return {
        agent: agent.name,
        generation: peers.getGeneration(agent.id),
        toolLists: lists.getCount(agent.id),
        isGrouped: exceedsShownTools(shownTools.map(({ schemaTokens }) => schemaTokens)),
        servers,
      }
    },
    ...openServerCalls({ peers, memory, now, logDir: options.logDir }),
    ...openResourcesAndPrompts(peers),
    async setBaseEnv(baseEnv, entryDefaults) {
      for (const agentId of await peers.rebase(baseEnv, entryDefaults))
        startEager(peers, agentId, startsKnown)
    },
    renewCredentials: () => peers.renewCredentials(),
    release: () => peers.release(),
    [Symbol.asyncDispose]: () => endWithin(peers, END_MS),
  }
}

/** Ends all servers; after the time limit, in milliseconds, releases those that remain. Never rejects. */
async function endWithin(peers: Peers, limitMs: number): Promise<void> {
  const hasEnded = await waitAtMost(
    peers.end().then(() => true),
    limitMs,
  )
  if (!hasEnded) peers.release()
}

const END_MS = 5_000
