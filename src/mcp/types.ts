import type { AgentConfig } from '../core/config/agent-schema.ts'
import type { McpEntry } from '../core/config/mcp-entry.ts'
import type { Hook, ToolOutput } from '../core/runtime/hook.ts'
import type { PromptMessage, PromptView } from './prompts/types.ts'
import type { ResourceList } from './resources/types.ts'

/** Life of a connection (mcp.md, "Peer lifecycle"). */
export type PeerState = 'disabled' | 'invalid' | 'connecting' | 'connected' | 'needs_auth' | 'failed' | 'idle'

/** One declaration that uses a connection. */
export interface DeclarationOwner {
  /** The agent's name. */
  agent: string
  /** Its name for the server. */
  name: string
}

/** A turn that calls a tool. */
export interface CallingTurn {
  agent: string
  sender: string
  runId: string
}

/** One JSON-RPC message of a connection. */
export interface McpFrame {
  /** Milliseconds since 1970. */
  at: number
  fingerprint: string
  owners: readonly DeclarationOwner[]
  /** From us to the server; else from the server to us. */
  outgoing: boolean
  /** Of a request or notification; empty for a response. */
  method: string
  /** Empty for a notification. */
  id: string
  /** Of a response whose request was seen. */
  durationMs: number | undefined
  /** Whose turn it belongs to: of a call, its answer and its progress; undefined for all else. */
  caller?: CallingTurn | undefined
  /** JSON without secrets, at most 64 KiB, cut at a character. */
  payload: string
  isCut: boolean
  /** No message: `payload` is lines that the server wrote to standard error. */
  isLog?: boolean
}

/** Takes the messages of all connections. */
export interface FrameTap {
  /** Whether anybody wants them: nothing is made of a message otherwise. */
  readonly hasListeners: boolean
  /** Must not throw. */
  tell(frame: McpFrame): void
}

/** One connection, shared by its owners. Times are milliseconds since 1970. Names of env and headers only. */
export interface PeerView {
  fingerprint: string
  transport: 'stdio' | 'http' | 'sse'
  /** Command line or address, without secrets. */
  target: string
  envNames: readonly string[]
  headerNames: readonly string[]
  owners: readonly DeclarationOwner[]
  state: PeerState
  /** The first line of what went wrong last; else empty. */
  error: string
  /** MCP revision that was negotiated; empty before. */
  protocolVersion: string
  /** How often it was connected. */
  starts: number
  toolCount: number
  /** What its tool schemas cost in every request, estimated. */
  schemaTokens: number
  pid: number | undefined
  calls: number
  errors: number
  /** Median of the last calls. */
  latencyMs: number | undefined
  /** Failures in a row. */
  failures: number
  connectedAt: number | undefined
  lastOkAt: number | undefined
  lastErrorAt: number | undefined
  nextRetryAt: number | undefined
}

/** A tool of a server, for one agent. The description is the server's: untrusted, stripped and capped. */
export interface ToolView {
  remoteName: string
  /** What the model sees; empty when it does not. */
  name: string
  description: string
  /** Why the model does not see it; empty when it does. */
  hidden: string
  /** What it costs in a request, estimated. */
  schemaTokens: number
}

/** A declaration and what comes of it. */
export interface ServerView {
  name: string
  fingerprint: string
  state: PeerState
  /** What went wrong last, also in an earlier process; else empty. */
  error: string
  /** When that was; milliseconds since 1970. */
  lastErrorAt: number | undefined
  /** Whether its tools are known; it may have none. */
  isListed: boolean
  /** In the server's order, with those the agent does not get. */
  tools: readonly ToolView[]
}

/** What one agent sees: servers in order of declaration. */
export interface AgentView {
  agent: string
  /** Grows whenever the tools change. */
  generation: number
  /** How often the list of its tools was made for a model: once for each generation that a turn saw, and each filter. */
  toolLists: number
  /** It has too many tools to show: a conversation begins with those that find others. */
  isGrouped: boolean
  servers: readonly ServerView[]
}

/** A server that has shown that it works. Disposing ends it, unless an agent was registered meanwhile that declares it. */
export interface VerifiedServer extends AsyncDisposable {
  peer: PeerView
  /** In its order, with those that the entry leaves out. */
  tools: readonly ToolView[]
}

/**
 * The MCP servers of one node: runs what agents declare, shares identical processes, routes calls per agent.
 *
 * Disposing ends all servers, in parallel, within five seconds.
 */
export interface McpServers extends AsyncDisposable {
  /** Registers agents, offers their tools and routes their calls. */
  readonly hook: Hook
  /** All connections, in the order of their first owner. */
  peers(): PeerView[]
  /** What an agent sees now; nothing is started. Works for agents that are not registered, too. */
  view(agent: AgentConfig): AgentView
  /**
   * Starts the server of one declaration unless it runs, and waits for it; without back-off.
   *
   * Throws `missing` for a name the agent does not declare, `config` for a disabled one or one that cannot be tried,
   * `credentials` when it wants to know who asks, `unavailable` with the first
   * line of why it failed.
   */
  connect(agent: AgentConfig, name: string, signal: AbortSignal): Promise<PeerView>
  /** Asks a connected server for a sign of life; connects first when it must. Gives milliseconds. */
  ping(agent: AgentConfig, name: string, signal: AbortSignal): Promise<{ peer: PeerView; ms: number }>
  /** Ends the connection, if there is one, and makes it anew. */
  reconnect(agent: AgentConfig, name: string, signal: AbortSignal): Promise<PeerView>
  /**
   * Calls a tool by its remote name, or the name the model sees; permission is the caller's business. `outputLimit`, in
   * bytes, stands in for that of the declaration; files of every kind are attached then. `words` are arguments as they
   * were typed: where the tool wants a text, that is what it gets.
   */
  call(
    at: {
      agent: AgentConfig
      name: string
      tool: string
      args: Record<string, unknown>
      words?: Readonly<Record<string, string>>
      spillDir: string
      outputLimit?: number
    },
    signal: AbortSignal,
  ): Promise<ToolOutput>
  /** What a server has to read; connects first when it must. */
  resources(agent: AgentConfig, name: string, signal: AbortSignal): Promise<ResourceList>
  /** Reads a resource, as a model would get it. `outputLimit` as for call(). */
  readResource(
    at: { agent: AgentConfig; name: string; uri: string; spillDir: string; outputLimit?: number },
    signal: AbortSignal,
  ): Promise<ToolOutput>
  /** The messages a server has ready; connects first when it must. */
  prompts(agent: AgentConfig, name: string, signal: AbortSignal): Promise<PromptView[]>
  /** A prompt with its blanks filled in. Throws `missing` for one that the server does not have, `invalid` for a blank. */
  getPrompt(
    at: {
      agent: AgentConfig
      name: string
      prompt: string
      args: Readonly<Record<string, string>>
      spillDir: string
    },
    signal: AbortSignal,
  ): Promise<PromptMessage[]>
  /** The last lines of a server's standard error, oldest first. */
  logs(agent: AgentConfig, name: string): string[]
  /**
   * Tries an entry that nobody owns: starts it and lists its tools. The list is kept for the first turn that uses an
   * identical entry of this agent. Throws as connect() does.
   */
  verify(agent: AgentConfig, entry: McpEntry, signal: AbortSignal): Promise<VerifiedServer>
  /**
   * `[env]` of config.toml from now on, for those that are registered too: servers that it changes start anew, the others
   * stay. Turns under way keep what they have.
   */
  setBaseEnv(baseEnv: Readonly<Record<string, string>>): Promise<void>
  /**
   * As disposing, for a process that leaves: calls are cancelled, the servers see the end of their input, and nobody
   * waits for them; what watches over their processes ends those that stay.
   */
  release(): void
}
