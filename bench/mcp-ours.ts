import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { AgentConfig } from '../src/core/config/agent-schema.ts'
import type { McpEntry } from '../src/core/config/mcp-entry.ts'
import { openProcessHost } from '../src/core/process/process-host.ts'
import { McpActionKind } from '../src/core/protocol/crabtalk.generated.ts'
import { request } from '../src/core/protocol/dispatch.ts'
import { openMcpServers } from '../src/mcp/open-servers.ts'
import { AGENT } from '../test/support/agents.ts'
import type { Daemon } from './daemon.ts'
import { type Caller, ECHO } from './mcp-callers.ts'

const NEVER = new AbortController().signal

/**
 * Calls a server through our own layer in this process, as the daemon does, but without a daemon. Creates
 * `scratch` if it does not exist.
 */
export async function ourLayer(name: string, entry: McpEntry, scratch: string): Promise<Caller> {
  await mkdir(scratch, { recursive: true })
  const processes = openProcessHost({ pid: process.pid })
  const cacheDir = join(scratch, 'cache')
  const servers = openMcpServers({
    ...{ processes, home: scratch, baseEnv: {}, cacheDir },
    env: process.env,
    now: Date.now,
    wait: () => new Promise(() => {}),
    startsKnown: true,
  })
  const agent: AgentConfig = { ...AGENT, mcps: [entry] }
  await servers.connect(agent, entry.name, NEVER)
  const { name: tool, arguments: args } = ECHO
  return {
    name,
    echo: () => servers.call({ agent, name: entry.name, tool, args, spillDir: scratch }, NEVER),
    async [Symbol.asyncDispose]() {
      await servers[Symbol.asyncDispose]()
      await processes[Symbol.asyncDispose]()
    },
  }
}

/** Calls a server as a client of a running daemon, including permissions. */
export async function throughDaemon(
  name: string,
  { dispatch }: Daemon,
  { agent, server }: { agent: string; server: string },
): Promise<Caller> {
  const call = {
    ...{ agent, name: server, action: McpActionKind.CALL },
    ...{ tool: ECHO.name, arguments: JSON.stringify(ECHO.arguments) },
  }
  const echo = () => request(dispatch, 'mcpAction', call, NEVER)
  await echo()
  return { name, echo, [Symbol.asyncDispose]: async () => {} }
}
