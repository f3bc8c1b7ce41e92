import { CrabError } from '../core/base/errors.ts'
import { newUlid } from '../core/base/ids.ts'
import type { JsonObject, Message, Usage } from '../core/base/message.ts'
import { derivedAgentId } from '../core/config/agent-id.ts'
import { type AgentConfig, checkAgent, foldName, nameProblem } from '../core/config/agent-schema.ts'
import { MemoryLeases } from '../core/lease/memory-leases.ts'
import type { Rule } from '../core/policy/types.ts'
import type { ModelEvent, ModelFacts, ModelRequest, Provider, ToolSpec } from '../core/provider/types.ts'
import { type Ask, type AskAnswers, Asks } from '../core/runtime/asks.ts'
import { compositeHook } from '../core/runtime/composite-hook.ts'
import type { AgentEvent } from '../core/runtime/events.ts'
import type { Hook, ToolDispatch, ToolOutput } from '../core/runtime/hook.ts'
import type { ConversationStores } from '../core/runtime/leased-conversation.ts'
import { Journals } from '../core/runtime/live/journals.ts'
import { RunningTurns } from '../core/runtime/running-turns.ts'
import { Runtime } from '../core/runtime/runtime.ts'
import type { Agents } from '../core/runtime/runtime-options.ts'
import type { TurnRequest, TurnSettings } from '../core/runtime/turn-request.ts'
import type { SessionAsk } from '../core/session-search/session-query.ts'
import type { SessionMatches } from '../core/session-search/types.ts'
import { MemoryStorage } from '../core/storage/memory-storage.ts'
import type { SessionSummary, Storage } from '../core/storage/types.ts'
import { type EmbeddedSessions, embeddedSessions } from './embedded-sessions.ts'

export type {
  AgentConfig,
  AgentEvent,
  Agents,
  Ask,
  AskAnswers as Answers,
  EmbeddedSessions,
  Hook,
  Message,
  ModelEvent,
  ModelFacts,
  ModelRequest,
  Provider,
  Rule,
  SessionAsk,
  SessionMatches,
  SessionSummary,
  Storage,
  ToolDispatch,
  ToolOutput,
  ToolSpec,
  TurnRequest,
  TurnSettings,
  Usage,
}
// The entry `crabtalk/runtime` of the package.
export { Asks, CrabError, MemoryStorage, RunningTurns, Runtime }

/** An agent by value: the keys of an agent file, its name and its prompt. */
export interface AgentDefinition {
  name: string
  prompt: string
  /** A ULID that stays when the agent is renamed; by default derived from the name. */
  id?: string
  /** Further keys of an agent file, such as `description`, `model`, `max_iterations`, `tools`. */
  [key: string]: unknown
}

/** The options of `embed()`; only the agents and the provider are required. */
export interface EmbedOptions {
  agents: readonly AgentDefinition[] | Agents
  /** Makes the model calls. See the Provider type: six members, of which `complete` streams one model call. */
  provider: Provider
  /** The tools of agents, in the order in which a model sees them; none by default. */
  hooks?: readonly Hook[]
  /** Stores conversations; by default in memory, for the lifetime of this object. */
  storage?: Storage
  /** Permission rules for every agent. */
  rules?: readonly Rule[]
  /** The default working directory of conversations. Only hooks read or write files there. */
  cwd?: string
  /** The time a question waits for its answer, milliseconds. */
  askTimeoutMs?: number
}

/**
 * A runtime with a single tenant in this process: no files, sockets, environment or tools except those of its
 * hooks.
 */
export interface Embedded extends AsyncDisposable {
  readonly runtime: Runtime
  /** The open questions. */
  readonly asks: Asks
  /** The running turns, which can be steered or stopped. */
  readonly running: RunningTurns
  /** The stored conversations: to list, read, search and append to. */
  readonly sessions: EmbeddedSessions
  /** Runs a turn of the conversation (agent, sender), by default ("crab", "user"); see Runtime.turn(). */
  turn(
    content: string,
    request?: Partial<Omit<TurnRequest, 'content'>>,
    signal?: AbortSignal,
  ): AsyncGenerator<AgentEvent>
}

/** Creates a runtime for a program that embeds it (ADR 0111). Throws `invalid` for an invalid agent. */
export function embed(options: EmbedOptions): Embedded {
  const { provider, storage = new MemoryStorage(), rules = [], cwd = '/', askTimeoutMs = 300_000 } = options
  const asks = new Asks({ timeoutMs: askTimeoutMs })
  const running = new RunningTurns()
  const config = { provider, rules }
  const agents = 'get' in options.agents ? options.agents : fixedAgents(options.agents)
  const stores = toConversationStores(storage)
  const runtime = new Runtime({
    agents,
    config: () => config,
    hook: compositeHook(options.hooks ?? []),
    stores,
    scratch: toConversationStores(new MemoryStorage()),
    running,
    asks,
    defaultCwd: cwd,
    homeDir: '',
    spill: cwd,
    now: Date.now,
    newId: newUlid,
  })
  return {
    runtime,
    asks,
    running,
    sessions: embeddedSessions({ agents, sessions: { stores, running, journals: new Journals() }, cwd }),
    turn: (content, request = {}, signal = new AbortController().signal) =>
      runtime.turn(
        { agent: 'crab', sender: 'user', trust: 'local', settings: {}, ...request, content },
        signal,
      ),
    [Symbol.asyncDispose]: () => runtime[Symbol.asyncDispose](),
  }
}

/** Creates a fixed set of agents. Throws `invalid` for an invalid definition. */
function fixedAgents(definitions: readonly AgentDefinition[]): Agents {
  const agents = new Map(definitions.map((definition) => [foldName(definition.name), toAgent(definition)]))
  return {
    async get(name) {
      const agent = agents.get(foldName(name))
      if (agent) return agent
      throw new CrabError('missing', `Cannot find the agent "${name}"`, {
        hint: `its agents: ${definitions.map((definition) => definition.name).join(', ') || 'none'}`,
      })
    },
    rules: async () => [],
    async addRule() {
      throw new CrabError('failed', 'Cannot store a rule: the agents of this runtime are fixed')
    },
  }
}

function toAgent({
  name,
  prompt,
  id = derivedAgentId(foldName(name), 0),
  ...keys
}: AgentDefinition): AgentConfig {
  const problem = nameProblem(name)
  if (problem) throw new CrabError('invalid', `Cannot use the agent "${name}": ${problem}`)
  const outcome = checkAgent({ ...keys, id } as JsonObject)
  if (outcome.ok) return { ...outcome.value, id, name, prompt }
  const [first] = outcome.problems
  throw new CrabError(
    'invalid',
    `Cannot use the agent "${name}": ${first?.path.join('.')}: ${first?.message}`,
  )
}

function toConversationStores(storage: Storage): ConversationStores {
  return { storage, leases: new MemoryLeases(), cache: new Map() }
}
