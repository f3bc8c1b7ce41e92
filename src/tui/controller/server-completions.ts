import {
  McpActionKind,
  type McpActionResult,
  McpPeerState,
  type McpPrompt,
} from '../../core/protocol/crabtalk.generated.ts'
import { type Dispatch, request } from '../../core/protocol/dispatch.ts'
import type { CommandEntry } from '../text/menu.ts'
import type { Completion } from '../text/prompt-state.ts'
import { cleanLine } from '../view/clean.ts'

export interface ServerCompletionsOptions {
  dispatch: Dispatch
  /** Returns the agent whose servers are listed. */
  agent(): string
  /** Milliseconds since 1970. */
  now(): number
}

/**
 * Completions offered by running MCP servers: prompts as commands, resources as mentions. Never starts a
 * server.
 */
export class ServerCompletions {
  readonly #options: ServerCompletionsOptions
  readonly #cache = new Map<string, CachedListing>()
  #prompts: { agent: string; entries: readonly CommandEntry[] } = { agent: '', entries: [] }

  constructor(options: ServerCompletionsOptions) {
    this.#options = options
  }

  /** The prompts of the agent's servers that are known so far. */
  get prompts(): readonly CommandEntry[] {
    return this.#prompts.agent === this.#options.agent() ? this.#prompts.entries : []
  }

  /** Looks for prompts. Returns whether the known prompts have changed. Never rejects. */
  async findPrompts(signal: AbortSignal): Promise<boolean> {
    const agent = this.#options.agent()
    const before = this.prompts
    const found = await this.#ask(agent, McpActionKind.PROMPTS, signal)
    const entries = found.flatMap(({ server, result }) =>
      result.prompts.map((prompt) => toCommand(server, prompt)),
    )
    this.#prompts = { agent, entries }
    return JSON.stringify(before) !== JSON.stringify(this.prompts)
  }

  /** Finds resources whose mention contains the query; those that start with it come first. Never rejects. */
  async findResources(query: string, signal: AbortSignal): Promise<Completion[]> {
    const needle = query.toLowerCase()
    const found = await this.#ask(this.#options.agent(), McpActionKind.RESOURCES, signal)
    const all = found.flatMap(({ server, result }) =>
      result.resources.map(({ uri, name, description }) => ({
        value: `${server}:${uri}`,
        detail: cleanLine(description || name),
        words: `${server}:${uri}\n${server}:${name}`.toLowerCase(),
      })),
    )
    return all
      .filter(({ words }) => words.includes(needle))
      .toSorted((a, b) => Number(b.words.startsWith(needle)) - Number(a.words.startsWith(needle)))
      .slice(0, MAX_RESOURCES)
      .map(({ value, detail }) => ({ value, detail }))
  }

  /** Returns a listing that several keys share, so an abort ends only the waiting, not the request. */
  async #ask(agent: string, action: McpActionKind, signal: AbortSignal): Promise<ServerListing[]> {
    const key = JSON.stringify([agent, action])
    const now = this.#options.now()
    const known = this.#cache.get(key)
    const listing = known && now < known.until ? known : this.#cacheListing(agent, action, now)
    this.#cache.set(key, listing)
    const aborted = new Promise<ServerListing[]>((resolve) => {
      if (signal.aborted) resolve([])
      else signal.addEventListener('abort', () => resolve([]), { once: true })
    })
    return await Promise.race([listing.found, aborted])
  }

  /** Caches a listing; only for a short time when a server is still connecting and is missing from it. */
  #cacheListing(agent: string, action: McpActionKind, now: number): CachedListing {
    const listing: CachedListing = { until: now + CACHE_MS, found: Promise.resolve([]) }
    const whenPartial = () => {
      listing.until = now + PARTIAL_CACHE_MS
    }
    listing.found = this.#list(agent, action, whenPartial).catch(() => [])
    return listing
  }

  async #list(agent: string, action: McpActionKind, whenPartial: () => void): Promise<ServerListing[]> {
    const { dispatch } = this.#options
    const signal = AbortSignal.timeout(LISTING_MS)
    const { agents } = await request(dispatch, 'mcpView', { agent }, signal)
    const servers = agents.flatMap((one) => one.servers)
    if (servers.some(({ state }) => state === McpPeerState.CONNECTING)) whenPartial()
    const running = servers.filter(({ state }) => state === McpPeerState.CONNECTED).map(({ name }) => name)
    const requests = running.map(async (name): Promise<ServerListing[]> => {
      const result = await request(dispatch, 'mcpAction', { agent, name, action }, signal).catch(
        () => undefined,
      )
      return result ? [{ server: name, result }] : []
    })
    return (await Promise.all(requests)).flat()
  }
}

interface CachedListing {
  until: number
  found: Promise<ServerListing[]>
}

interface ServerListing {
  server: string
  result: McpActionResult
}

function toCommand(server: string, { name, description, arguments: blanks }: McpPrompt): CommandEntry {
  const args = blanks.map((blank) => (blank.required ? `${blank.name}=` : `[${blank.name}=]`)).join(' ')
  return { name: `${server}:${name}`, args: cleanLine(args), summary: cleanLine(description) }
}

/** The time, in milliseconds, that a complete listing is cached. */
const CACHE_MS = 10_000
const PARTIAL_CACHE_MS = 500
const LISTING_MS = 5_000
const MAX_RESOURCES = 20
