import type { Attachment } from '../core/base/message.ts'
import type { AgentConfig } from '../core/config/agent-schema.ts'
import type { McpEntry } from '../core/config/mcp-entry.ts'
import type { Hook, ToolOutput } from '../core/runtime/hook.ts'

/** The state of a connection (ADR 0074). */
export type PeerState = 'disabled' | 'invalid' | 'connecting' | 'connected' | 'needs_auth' | 'failed' | 'idle'

/** One declaration that uses a connection. */
export interface DeclarationOwner {
  /** The agent's name. */
  agent: string
  /** Its name for the server. */
  name: string
  /** The project's file that declares it for a conversation; absent for others. */
  file?: string | undefined
}

/** The turn a tool call belongs to. */
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
  /** True from client to server, false from server to client. */
  outgoing: boolean
  /** The method of a request or notification; empty for a response. */
  method: string
  /** Empty for a notification. */
  id: string
  /** Set for a response whose request was seen. */
  durationMs: number | undefined
  /** The turn that a call, its response or its progress belongs to; undefined for all other messages. */
  caller?: CallingTurn | undefined
  /** JSON without secrets, truncated to 64 KiB at a character boundary. */
  payload: string
  isCut: boolean
  /** True when this is not a message: `payload` is lines that the server wrote to standard error. */
  isLog?: boolean
}

/** Receives the messages of all connections. */
export interface FrameTap {
  /** Whether anyone listens: if not, messages are not processed at all. */
  readonly hasListeners: boolean
  /** Must not throw. */
  publish(frame: McpFrame): void
}

/**
 * A connection shared by its owners. Times are milliseconds since 1970. Environment variables and headers
 * appear by name only.
 */
export interface PeerView {
  fingerprint: string
  transport: 'stdio' | 'http' | 'sse'
  /** Command line or address, without secrets. */
  target: string
  envNames: readonly string[]
  headerNames: readonly string[]
  owners: readonly DeclarationOwner[]
  state: PeerState
  /** The first line of the last error; empty when there is none. */
  error: string
  /** The negotiated MCP revision; empty before the first connection. */
  protocolVersion: string
  /** The number of times it was connected. */
  starts: number
  toolCount: number
  /** The estimated tokens its tool schemas add to every request. */
  schemaTokens: number
  pid: number | undefined
  calls: number
  errors: number
  /** The median of the last calls. */
  latencyMs: number | undefined
  /** Consecutive failures. */
  failures: number
  connectedAt: number | undefined
  lastOkAt: number | undefined
  lastErrorAt: number | undefined
  nextRetryAt: number | undefined
}

/**
 * A tool of a server as one agent gets it. The description comes from the server: untrusted, stripped and
 * truncated.
 */
export interface ToolView {
  remoteName: string
  /** The name the model sees; empty when the tool is hidden from it. */
  name: string
  description: string
  /** The reason the model does not see it; empty when it does. */
  hidden: string
  /** The estimated tokens it adds to a request. */
  schemaTokens: number
}

/** A declaration with the state and tools of its server. */
export interface ServerView {
  name: string
  fingerprint: string
  state: PeerState
  /** The last error, which may stem from an earlier process; empty when there is none. */
  error: string
  /** The time of `error`, in milliseconds since 1970. */
  lastErrorAt: number | undefined
  /** Whether its tools are known; the list may be empty. */
  isListed: boolean
  /** In the server's order, including those the agent does not get. */
  tools: readonly ToolView[]
}

/** The servers of one agent, in order of declaration. */
export interface AgentView {
  agent: string
  /** Incremented whenever the tools change. */
  generation: number
  /**
   * The number of times its tool list was built: once for each generation that a turn used, and for each
   * filter.
   */
  toolLists: number
  /**
   * Whether it has too many tools to show them all: a conversation then starts with the tools that find the
   * others.
   */
  isGrouped: boolean
  servers: readonly ServerView[]
}

/**
 * A server that has connected successfully. Disposing ends it, unless an agent that declares it was
 * registered meanwhile.
 */
export interface VerifiedServer extends AsyncDisposable {
  peer: PeerView
  /** In the server's order, including those that the entry leaves out. */
  tools: readonly ToolView[]
}

/**
 * The MCP servers of one node: runs what agents declare, shares identical processes and routes calls per
 * agent.
 *
 * Disposing ends all servers in parallel, within five seconds.
 */
export interface McpServers extends AsyncDisposable {
  /** Registers agents, offers their tools and routes their calls. */
  readonly hook: Hook
  /** All connections, in the order of their first owner. */
  peers(): PeerView[]
  /** Describes the servers of an agent without starting any. Also works for agents that are not registered. */
  view(agent: AgentConfig): AgentView
  /**
   * Starts the server of one declaration unless it runs, ignoring back-off, and waits for it.
   *
   * Throws `missing` for a name the agent does not declare, `config` for a disabled or invalid one,
   * `credentials` when it demands authentication, `unavailable` with the first line of the reason otherwise.
   */
  connect(agent: AgentConfig, name: string, signal: AbortSignal): Promise<PeerView>
  /** Pings a server, connecting first if needed. Returns the round trip in milliseconds. */
  ping(agent: AgentConfig, name: string, signal: AbortSignal): Promise<{ peer: PeerView; ms: number }>
  /** Closes the connection, if there is one, and opens a new one. */
  reconnect(agent: AgentConfig, name: string, signal: AbortSignal): Promise<PeerView>
  /**
   * Calls a tool by its remote name, or the name the model sees; the caller checks permissions.
   * `outputLimit`, in bytes, replaces that of the declaration; files of every kind are then attached. `words`
   * are arguments as they were typed: a parameter of type string gets the text unparsed.
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
  /** Lists the resources of a server, connecting first if needed. */
  resources(agent: AgentConfig, name: string, signal: AbortSignal): Promise<ResourceList>
  /** Reads a resource as a model would get it. `outputLimit` is the one of call(). */
  readResource(
    at: { agent: AgentConfig; name: string; uri: string; spillDir: string; outputLimit?: number },
    signal: AbortSignal,
  ): Promise<ToolOutput>
  /** Lists the prompts of a server, connecting first if needed. */
  prompts(agent: AgentConfig, name: string, signal: AbortSignal): Promise<PromptView[]>
  /**
   * Returns a prompt with its arguments filled in. Throws `missing` for an unknown prompt, `invalid` for a
   * missing or unknown argument.
   */
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
  /** The last lines of a server's standard error, oldest first: of this process, else of earlier ones. */
  logs(agent: Pick<AgentConfig, 'id' | 'name' | 'mcps' | 'invalidMcps'>, name: string): string[]
  /**
   * Tries an entry without an owner: starts its server and lists the tools. The list is stored for the first
   * turn that uses an identical entry of this agent. Throws as connect() does.
   */
  verify(agent: Pick<AgentConfig, 'id'>, entry: McpEntry, signal: AbortSignal): Promise<VerifiedServer>
  /**
   * Replaces `[env]` and the defaults of `[mcp]` of config.toml, also for registered agents: servers that it changes are restarted, the
   * others continue. Turns under way keep the connections they have.
   */
  setBaseEnv(baseEnv: Readonly<Record<string, string>>, entryDefaults?: Partial<McpEntry>): Promise<void>
  /**
   * Learns that credentials have changed: servers whose helpers failed are tried again, and servers whose env helper
   * now prints other variables are restarted.
   */
  renewCredentials(): void
  /**
   * Like disposing, for a process that is exiting: cancels calls and closes the input of the servers without
   * waiting for them; the process watchdog ends those that remain.
   */
  release(): void
}

/** A resource that a server offers. The texts are the server's: untrusted, made printable, truncated. */
export interface ResourceView {
  /** The URI as the server expects it. */
  uri: string
  name: string
  description: string
  /** Empty when the server does not say. */
  mimeType: string
  /** Bytes; undefined when the server does not say. */
  size: number | undefined
}

/** A family of resources with a URI template (RFC 6570). */
export interface ResourceTemplateView {
  uriTemplate: string
  name: string
  description: string
  mimeType: string
}

/** The resources and templates of one server. */
export interface ResourceList {
  resources: readonly ResourceView[]
  templates: readonly ResourceTemplateView[]
}

/** A prompt that a server offers. The texts are the server's: untrusted, made printable, truncated. */
export interface PromptView {
  /** The name as the server expects it; without spaces and control characters. */
  name: string
  description: string
  arguments: readonly PromptArgumentView[]
}

/** An argument of a prompt. */
export interface PromptArgumentView {
  name: string
  description: string
  isRequired: boolean
}

/** A message of a prompt with its arguments filled in. */
export interface PromptMessage {
  role: 'user' | 'assistant'
  content: string
  attachments: readonly Attachment[]
}
