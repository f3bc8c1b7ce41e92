import type { McpPeer } from '../../src/core/protocol/crabtalk.generated.ts'
import { request } from '../../src/core/protocol/dispatch.ts'
import { startMcpNode } from './mcp/mcp-node.ts'
import { entriesToml, type WatchedServer, watchedServer } from './mcp/mcp-servers.ts'
import type { ServerOptions } from './mcp/options.ts'
import { recordFolder } from './mcp/record-folder.ts'
import type { Script } from './model-server.ts'
import type { TestDispatch } from './test-dispatch.ts'
import { until } from './until.ts'

/** A node that owns the MCP servers of all its agents, as a daemon does. */
export interface ObservedNode extends TestDispatch {
  /** The entries of its log, as `level message`. */
  readonly logged: string[]
  watch(name: string, options?: ServerOptions): WatchedServer
  /** Writes an agent's file. */
  declare(agent: string, ...servers: readonly WatchedServer[]): Promise<void>
  /** Returns all connections. */
  peers(): Promise<McpPeer[]>
  /** Returns the pid of a server once it is connected. */
  pidOf(server: WatchedServer): Promise<number>
  reload(): Promise<unknown>
}

export async function startObservedNode(script: Script = [], { config = '' } = {}): Promise<ObservedNode> {
  const records = await recordFolder()
  const logged: string[] = []
  const log = (level: string, message: string) => void logged.push(`${level} ${message}`)
  const node = await startMcpNode(script, { config, log })
  const peers = async () => (await request(node.dispatch, 'mcpView', {}, NEVER)).peers
  return {
    ...node,
    logged,
    peers,
    watch: (name, options = { tools: ['few'] }) => watchedServer(records.path, options, { name }),
    declare: (agent, ...servers) =>
      node.home.write(
        `agents/${agent}.toml`,
        entriesToml(...servers.map(({ entry }) => withLongStartup(entry))),
      ),
    async pidOf({ starts, entry }) {
      await until(`${entry.name} is connected`, async () => {
        const pids = (await peers()).flatMap(({ pid }) => pid ?? [])
        return pids.includes(starts().at(-1) ?? -1)
      })
      return starts().at(-1)!
    },
    reload: () => request(node.dispatch, 'reload', {}, NEVER),
    async [Symbol.asyncDispose]() {
      await node[Symbol.asyncDispose]()
      await records[Symbol.asyncDispose]()
    },
  }
}

/** Sets a long start timeout, because machines that run tests are busy. */
function withLongStartup<T extends object>(entry: T): T {
  return { ...entry, startup_timeout_ms: 60_000 }
}

const NEVER = new AbortController().signal
