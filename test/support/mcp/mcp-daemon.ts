import { stringify } from 'smol-toml'
import type { McpEntry } from '../../../src/core/config/mcp-entry.ts'
import {
  McpActionKind,
  type McpActionResult,
  type McpPeer,
  type McpTraceEvent,
} from '../../../src/core/protocol/crabtalk.generated.ts'
import { request, requestMany } from '../../../src/core/protocol/dispatch.ts'
import { FROM_SOURCE, startTestDaemon, type TestDaemon } from '../daemon.ts'
import { type ModelServer, type Script, startModelServer } from '../model-server.ts'
import { BINARY } from '../run-binary.ts'
import { type TemporaryHome, temporaryHome } from '../temporary-home.ts'

/** A daemon of the tested program whose agents have MCP servers, and the operations of a local client. */
export interface McpDaemon extends AsyncDisposable {
  readonly home: TemporaryHome
  readonly daemon: TestDaemon
  readonly model: ModelServer
  /** Messages between the daemon and all servers, once followed. */
  readonly frames: readonly McpTraceEvent[]
  act(name: string, action: McpActionKind, more?: Acting): Promise<McpActionResult>
  /** Calls a tool by its remote name. */
  call(name: string, tool: string, args: object, more?: Acting): Promise<McpActionResult>
  /** Returns all connections. */
  peers(): Promise<McpPeer[]>
  /** Returns the connection of a declared server; throws without one. */
  peer(name: string, agent?: string): Promise<McpPeer>
  /** Starts collecting the frames. */
  follow(): void
}

/** The agent that declares the server, `crab` by default, and the signal that ends the wait. */
export interface Acting {
  agent?: string
  signal?: AbortSignal
}

/** The options besides agents and their servers; `home` is an existing home that is not removed. */
export interface McpDaemonOptions {
  script?: Script
  env?: Readonly<Record<string, string>>
  config?: string
}

/** Starts a daemon with these agents; each may call all tools of its servers, which have a minute to start. */
export async function startMcpDaemon(
  agents: Readonly<Record<string, readonly McpEntry[]>>,
  { script = [], env = {}, config = '' }: McpDaemonOptions = {},
): Promise<McpDaemon> {
  const home = await temporaryHome()
  const model = await startModelServer(script)
  await home.write('config.toml', `[llm]\nbase_url = "${model.url}"\nmodel = "scripted"\n${config}`)
  for (const [name, entries] of Object.entries(agents)) {
    const mcps = entries.map((entry) => ({ ...PATIENT, ...entry }))
    await home.write(`agents/${name}.toml`, stringify({ mcps }))
    await home.write(`agents/${name}.md`, 'You call tools.\n')
  }
  const daemon = await startDaemonAt(home, env)
  return withClient({ home, model, daemon })
}

/** Starts another daemon for a home, as the tested program starts it. */
export async function startDaemonAt(
  home: TemporaryHome,
  env: Readonly<Record<string, string>> = {},
): Promise<TestDaemon> {
  const program = BINARY.endsWith('.ts') ? FROM_SOURCE : ([BINARY] as const)
  return await startTestDaemon(home, { program: [...program], env })
}

type Parts = Pick<McpDaemon, 'home' | 'model' | 'daemon'>

function withClient({ home, model, daemon }: Parts): McpDaemon {
  const { dispatch } = daemon
  const over = new AbortController()
  const frames: McpTraceEvent[] = []
  let following: Promise<void> | undefined
  const act = (name: string, action: McpActionKind, { agent = 'crab', signal = NEVER }: Acting = {}) =>
    request(dispatch, 'mcpAction', { agent, name, action }, signal)
  const peers = async () => (await request(dispatch, 'mcpView', {}, NEVER)).peers
  return {
    ...{ home, model, daemon, frames, act, peers },
    call: (name, tool, args, { agent = 'crab', signal = NEVER } = {}) => {
      const message = { agent, name, action: McpActionKind.CALL, tool, arguments: JSON.stringify(args) }
      return request(dispatch, 'mcpAction', message, signal)
    },
    async peer(name, agent = 'crab') {
      const isOwner = (owner: { agent: string; name: string }) => owner.agent === agent && owner.name === name
      const found = (await peers()).find(({ owners }) => owners.some(isOwner))
      if (found) return found
      throw new Error(`Nobody runs ${name} of ${agent}`)
    },
    follow() {
      following ??= gather(requestMany(dispatch, 'mcpTrace', {}, over.signal), frames)
    },
    async [Symbol.asyncDispose]() {
      over.abort()
      await following
      await daemon[Symbol.asyncDispose]()
      await model[Symbol.asyncDispose]()
      await home[Symbol.asyncDispose]()
    },
  }
}

async function gather(events: AsyncIterable<McpTraceEvent>, frames: McpTraceEvent[]): Promise<void> {
  try {
    for await (const event of events) frames.push(event)
  } catch {
    // the test ends it, or the daemon
  }
}

const PATIENT = { startup_timeout_ms: 60_000, permissions: { allow: ['*'] } }
const NEVER = new AbortController().signal
