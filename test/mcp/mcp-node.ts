import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { AgentConfig } from '../../src/core/config/agent-schema.ts'
import type { McpEntry } from '../../src/core/config/mcp-entry.ts'
import { openProcessHost } from '../../src/core/process/process-host.ts'
import type { ProcessHost } from '../../src/core/process/types.ts'
import type { ToolSpec } from '../../src/core/provider/types.ts'
import type { AgentEvent, McpServerEvent } from '../../src/core/runtime/events.ts'
import type { ToolDispatch, ToolOutput } from '../../src/core/runtime/hook.ts'
import { openMcpServers } from '../../src/mcp/open-servers.ts'
import { ServerMemory } from '../../src/mcp/peers/server-memory.ts'
import type { McpServers } from '../../src/mcp/types.ts'
import { AGENT } from '../support/agents.ts'
import { type Start, type WatchedServer, watchedServer } from '../support/mcp/mcp-servers.ts'
import type { ServerOptions } from '../support/mcp/options.ts'
import { endLiving, livingWith } from '../support/orphans.ts'
import { until } from '../support/until.ts'

/** The MCP servers of a test node, as real processes; disposing asserts that no process is left. */
export interface McpNode extends AsyncDisposable {
  readonly servers: McpServers
  readonly processes: ProcessHost
  readonly folder: string
  /** The events of all servers, of all agents. */
  readonly events: McpServerEvent[]
  /** Milliseconds added to the clock, which does not run by itself. */
  advancedMs: number
  /** Returns the time of the clock in milliseconds since 1970. */
  now(): number
  /** Returns the entry of a misbehaving server that records what it does. */
  watch(options?: ServerOptions, start?: Start): WatchedServer
  /** Opens another node on the same folder, as another process would be. */
  openAnother(options?: McpNodeOptions): Promise<McpNode>
}

export interface McpNodeOptions {
  baseEnv?: Record<string, string>
  env?: Record<string, string | undefined>
  /** The defaults of entries. */
  entryDefaults?: Partial<McpEntry>
  /** False as in a process that serves one command. */
  startsKnown?: boolean
  /** Returns the command that helpers called `crabtalk` run. */
  ownCommand?: () => Promise<readonly string[]>
}

export const NEVER = new AbortController().signal

/** Opens a node in its own folder. Its servers are marked, so that two nodes never have the same one. */
export async function mcpNode(options: McpNodeOptions = {}): Promise<McpNode> {
  const directory = await mkdtempDisposable(join(tmpdir(), 'crab-mcp-'))
  const mark = `crab-node-${randomUUID()}`
  const leave = async () => {
    const left = await endLiving(mark)
    await directory.remove()
    assert.deepEqual(left, [])
  }
  return openNode({ ...options, mark, folder: directory.path, leave, opened: Date.now() })
}

function openNode(
  options: McpNodeOptions & { mark: string; folder: string; leave: () => Promise<void>; opened: number },
): McpNode {
  const {
    baseEnv = {},
    env = process.env,
    startsKnown = true,
    entryDefaults = {},
    ownCommand,
    mark,
    folder,
    leave,
    opened,
  } = options
  const events: McpServerEvent[] = []
  const processes = openProcessHost({ pid: process.pid })
  const node: McpNode = {
    processes,
    folder,
    events,
    advancedMs: 0,
    now: () => opened + node.advancedMs,
    servers: openMcpServers({
      processes,
      home: folder,
      baseEnv: { ...baseEnv, CRAB_TEST: mark },
      cacheDir: join(folder, 'cache'),
      logDir: join(folder, 'logs'),
      env,
      ...(ownCommand && { ownCommand }),
      now: () => node.now(),
      wait: (ms, signal) => waitForClock(node, ms, signal),
      startsKnown,
      entryDefaults,
      onEvent: (event) => events.push(event),
    }),
    watch: (serverOptions, start) => watchedServer(folder, serverOptions, start),
    openAnother: async (changes) => openNode({ ...options, ...changes, leave: async () => {} }),
    async [Symbol.asyncDispose]() {
      await node.servers[Symbol.asyncDispose]()
      await processes[Symbol.asyncDispose]()
      await leave()
    },
  }
  return node
}

/** Waits until the clock of a node, which tests advance, shows a time. */
async function waitForClock(node: McpNode, ms: number, signal: AbortSignal): Promise<void> {
  const due = node.now() + ms
  while (node.now() < due) await sleep(5, undefined, { signal, ref: false })
}

let count = 0

/** Returns a new agent with these declarations, whose servers have enough time for a busy machine. */
export function agentWith(mcps: readonly McpEntry[], changes: Partial<AgentConfig> = {}): AgentConfig {
  count++
  const id = `01J0000000000000000000${String(count).padStart(4, '0')}`
  const patient = mcps.map((entry) =>
    entry.url === undefined ? { startup_timeout_ms: 60_000, ...entry } : entry,
  )
  return { ...AGENT, id, name: `agent${count}`, mcps: patient, ...changes }
}

/** The tools a turn was offered, and the events and notices it got meanwhile. */
export interface Offered {
  tools: readonly ToolSpec[]
  names: string[]
  reported: AgentEvent[]
  notices: string[]
}

/** Asks for the tools of an agent as a turn does. */
export async function offer(node: McpNode, agent: AgentConfig, signal = NEVER): Promise<Offered> {
  const reported: AgentEvent[] = []
  const tools = await node.servers.hook.schema!(agent, { emit: (event) => reported.push(event), signal })
  return {
    tools,
    reported,
    names: tools.map(({ name }) => name),
    notices: reported.flatMap((event) => (event.type === 'notice' ? event.message : [])),
  }
}

/** Calls a tool as a turn does, described first and then run; returns undefined if no server has it. */
export async function run(
  node: McpNode,
  agent: AgentConfig,
  call: { name: string; args?: Record<string, unknown> } & Partial<
    Pick<ToolDispatch, 'progress' | 'ask' | 'runId' | 'notice' | 'env'>
  >,
  signal = NEVER,
): Promise<ToolOutput | undefined> {
  const { name, args = {}, progress = () => {}, ask = async () => assert.fail('asks'), runId = 'run' } = call
  const { notice = () => {}, env = {} } = call
  const request = { args, agent, cwd: node.folder }
  const action = await node.servers.hook.describe!(name, request)
  if (!action) return undefined
  const dispatch: ToolDispatch = {
    ...request,
    callId: 'call',
    sender: 'ann',
    trust: 'local',
    session: 'session',
    runId,
    env,
    action,
    files: new Map(),
    spillDir: join(node.folder, 'spill'),
    turnOver: NEVER,
    progress,
    introduce: () => false,
    offerAgain: () => assert.fail('changes nothing'),
    leavePlanMode: () => assert.fail('changes nothing'),
    notice,
    mayShow: () => true,
    ask,
  }
  return node.servers.hook.dispatch!(name, dispatch, signal)
}

/** Waits until a server of the node is in a state. */
export async function untilState(node: McpNode, state: string): Promise<void> {
  await until(`a server is ${state}`, () => node.servers.peers().some((peer) => peer.state === state))
}

/** Makes a node believe that a server had one tool, `old`, when it was last connected. */
export async function storeOldList(node: McpNode, entry: McpEntry): Promise<string[]> {
  const { fingerprint } = node.servers.view(agentWith([entry])).servers[0]!
  const tool = { name: 'old', description: '', inputSchema: { type: 'object' } }
  const memory = new ServerMemory(join(node.folder, 'cache', 'mcp'))
  await memory.write(fingerprint, {
    list: { tools: [tool], dropped: [] },
    era: { is: 'legacy', since: node.now() },
  })
  return ['mcp__misbehaving__old']
}

/** Returns the event kinds of an agent's servers. */
export function kinds(node: McpNode, agent: string): string[] {
  return node.events.filter((event) => event.agent === agent).map(({ kind }) => kind)
}

/** Waits until no process of a server is left. */
export async function waitUntilGone({ mark }: WatchedServer): Promise<void> {
  await until('the server is gone', async () => (await livingWith(mark)).length === 0)
}
