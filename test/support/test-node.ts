import { join } from 'node:path'
import { ulid } from 'ulid'
import type { JsonObject } from '../../src/core/base/message.ts'
import { AgentStore } from '../../src/core/config/agents.ts'
import { MemoryLeases } from '../../src/core/lease/memory-leases.ts'
import type { Rule } from '../../src/core/policy/types.ts'
import type { ModelEndpoint } from '../../src/core/provider/endpoint.ts'
import { ModelRegistry } from '../../src/core/provider/registry.ts'
import { callEndpoint, type DeclaredModel } from '../../src/core/provider/source.ts'
import { Asks } from '../../src/core/runtime/asks.ts'
import { compositeHook } from '../../src/core/runtime/composite-hook.ts'
import type { AgentEvent } from '../../src/core/runtime/events.ts'
import type { Hook } from '../../src/core/runtime/hook.ts'
import type { ConversationStores } from '../../src/core/runtime/leased-conversation.ts'
import { RunningTurns } from '../../src/core/runtime/running-turns.ts'
import { Runtime } from '../../src/core/runtime/runtime.ts'
import type { TurnRequest } from '../../src/core/runtime/turn-request.ts'
import { DiskStorage } from '../../src/core/storage/disk-storage.ts'
import { MemoryStorage } from '../../src/core/storage/memory-storage.ts'
import type { SessionLine } from '../../src/core/storage/types.ts'
import { endpointAt } from './model-calls.ts'
import { type ModelServer, type RecordedRequest, type Script, startModelServer } from './model-server.ts'
import { type TemporaryHome, temporaryHome } from './temporary-home.ts'

export interface TestNodeOptions {
  hooks?: readonly Hook[]
  /** The wire format of the server. */
  kind?: ModelEndpoint['kind']
  models?: readonly DeclaredModel[]
  /** The stores; by default those of a new folder. */
  stores?: ConversationStores
  maxRetries?: number
  /** The permission rules of every agent. */
  rules?: readonly Rule[]
  askTimeoutMs?: number
}

/** A runtime with real parts: its own home, agent files, sessions on disk, and a scripted model server. */
export interface TestNode extends AsyncDisposable {
  readonly server: ModelServer
  readonly runtime: Runtime
  readonly asks: Asks
  readonly running: RunningTurns
  readonly stores: ConversationStores
  readonly agents: AgentStore
  readonly home: TemporaryHome
  /** Runs a turn, by default of the conversation (crab, ann). */
  turn(content: string, more?: Partial<TurnRequest>, signal?: AbortSignal): AsyncGenerator<AgentEvent>
  /** Runs a turn to its end. */
  ask(content: string, more?: Partial<TurnRequest>, signal?: AbortSignal): Promise<AgentEvent[]>
  /** Reads the stored lines of an agent's conversation with a sender. */
  lines(sender?: string, agent?: string): Promise<SessionLine[]>
}

export async function startTestNode(script: Script, options: TestNodeOptions = {}): Promise<TestNode> {
  const home = await temporaryHome()
  const server = await startModelServer(script)
  const { sessions, index } = home.paths
  const stores = options.stores ?? newStores(new DiskStorage({ sessions, index }))
  const agents = new AgentStore({ paths: home.paths, lock: (name) => stores.leases.take(name, NEVER) })
  const config = { provider: makeRegistry(server, options), rules: options.rules ?? [] }
  const asks = new Asks({ timeoutMs: options.askTimeoutMs ?? 60_000 })
  const running = new RunningTurns()
  const runtime = new Runtime({
    agents,
    config: () => config,
    hook: compositeHook(options.hooks ?? []),
    stores,
    scratch: newStores(new MemoryStorage()),
    running,
    defaultCwd: home.paths.home,
    homeDir: home.paths.home,
    workspaces: home.paths.workspace,
    spill: join(home.paths.cache, 'output'),
    undo: join(home.paths.cache, 'undo'),
    asks,
    now: Date.now,
    newId: ulid,
  })
  const turn: TestNode['turn'] = (content, more = {}, signal = NEVER) =>
    runtime.turn({ agent: 'crab', sender: 'ann', trust: 'local', content, settings: {}, ...more }, signal)
  return {
    server,
    runtime,
    asks,
    running,
    stores,
    agents,
    home,
    turn,
    ask: async (...at) => await Array.fromAsync(turn(...at)),
    async lines(sender = 'ann', agent = 'crab') {
      const { id: agentId } = await agents.get(agent)
      const id = await stores.storage.activeSession({ agentId, sender })
      return id === undefined ? [] : (await stores.storage.read(id)).lines
    },
    async [Symbol.asyncDispose]() {
      await runtime[Symbol.asyncDispose]()
      await server[Symbol.asyncDispose]()
      await home[Symbol.asyncDispose]()
    },
  }
}

/** Opens the conversations of one process; two of them over one storage act like two processes that take turns. */
export function newStores(
  storage: ConversationStores['storage'],
  leases: ConversationStores['leases'] = new MemoryLeases(),
): ConversationStores {
  return { storage, leases, cache: new Map() }
}

/** Returns the last event of a turn; fails unless it is the end. */
export function findEnd(events: readonly AgentEvent[]): Extract<AgentEvent, { type: 'end' }> {
  const last = events.at(-1)
  if (last?.type !== 'end') throw new Error(`The turn ended with ${last?.type}`)
  return last
}

/** Returns the whole text of a turn. */
export function joinAnswer(events: readonly AgentEvent[]): string {
  return events.map((event) => (event.type === 'text' ? event.delta : '')).join('')
}

/** Returns the messages of a request, without the system prompt. */
export function requestMessages(request: RecordedRequest | undefined): JsonObject[] {
  const messages = (request?.json['messages'] ?? []) as JsonObject[]
  return messages.filter(({ role }) => role !== 'system')
}

/** Returns the messages of a text-only request, as `role: content`. */
export function toSentLines(request: RecordedRequest | undefined): string[] {
  return requestMessages(request).map(({ role, content }) => `${role}: ${content}`)
}

/**
 * Returns the messages of a conversation as `role: content`, without the details that do not matter to a
 * reader.
 */
export function spoken(lines: readonly SessionLine[]): string[] {
  return lines.flatMap((line) => {
    if (line.kind !== 'entry') return []
    const { role, content, tool_calls: calls = [], stop_reason: stop, agent } = line
    const who = agent === undefined ? role : `${role} ${agent}`
    const how = stop === undefined ? '' : ` [${stop}]`
    return [`${who}: ${content}${calls.map(({ name }) => ` <${name}>`).join('')}${how}`]
  })
}

/** Returns how the turns of a stored conversation ended. */
export function doneReasons(lines: readonly SessionLine[]): string[] {
  return lines.flatMap((line) => (line.kind === 'event' && line.event === 'done' ? [line.stop_reason] : []))
}

function makeRegistry(server: ModelServer, options: TestNodeOptions): ModelRegistry {
  const { kind = 'openai-compatible', models = [{ name: 'scripted', facts: {} }], maxRetries = 0 } = options
  const endpoint = endpointAt(server.url, { kind, maxRetries })
  const registry = new ModelRegistry()
  registry.add({
    name: 'test',
    where: 'test',
    models,
    isOpen: false,
    complete: (request, signal) => callEndpoint(() => endpoint, request, signal),
  })
  return registry
}

const NEVER = new AbortController().signal
