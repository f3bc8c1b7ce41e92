import {
  McpActionKind,
  type McpActionResult,
  McpPeerState,
  type McpPrompt,
} from '../../core/protocol/crabtalk.generated.ts'
import { type Dispatch, request } from '../../core/protocol/dispatch.ts'
import type { CommandEntry } from '../text/menu.ts'
import type { Completion } from '../text/prompt.ts'
import { cleanLine } from '../view/clean.ts'

export interface ServerCompletionsOptions {
  dispatch: Dispatch
  /** Whose servers they are, now. */
  agent(): string
  /** Milliseconds since 1970. */
  now(): number
}

/** What running servers offer for completion: prompts as commands, resources as mentions. Starts no server. */
export class ServerCompletions {
  readonly #options: ServerCompletionsOptions
  readonly #cache = new Map<string, CachedListing>()
  #prompts: { agent: string; entries: readonly CommandEntry[] } = { agent: '', entries: [] }

  constructor(options: ServerCompletionsOptions) {
    this.#options = options
  }

  /** Those of the agent that are known by now. */
  get prompts(): readonly CommandEntry[] {
    return this.#prompts.agent === this.#options.agent() ? this.#prompts.entries : []
  }

  /** Looks for prompts; tells whether others are known than before. Never rejects. */
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

  /** Resources whose mention has the query in it, those that begin with it first. Never rejects. */
  async findResources(query: string, signal: AbortSignal): Promise<Completion[]> {
    const wanted = query.toLowerCase()
    const found = await this.#ask(this.#options.agent(), McpActionKind.RESOURCES, signal)
    const all = found.flatMap(({ server, result }) =>
      result.resources.map(({ uri, name, description }) => ({
        value: `${server}:${uri}`,
        detail: cleanLine(description || name),
        words: `${server}:${uri}\n${server}:${name}`.toLowerCase(),
      })),
    )
    return all
      .filter(({ words }) => words.includes(wanted))
      .toSorted((a, b) => Number(b.words.startsWith(wanted)) - Number(a.words.startsWith(wanted)))
      .slice(0, MOST_RESOURCES)
      .map(({ value, detail }) => ({ value, detail }))
  }

  /** Several keys ask for one listing: an abort ends the waiting only. */
  async #ask(agent: string, action: McpActionKind, signal: AbortSignal): Promise<ServerListing[]> {
    const key = JSON.stringify([agent, action])
    const now = this.#options.now()
    const known = this.#cache.get(key)
    const kept = known && now < known.until ? known : this.#cacheListing(agent, action, now)
    this.#cache.set(key, kept)
    const gaveUp = new Promise<ServerListing[]>((resolve) => {
      if (signal.aborted) resolve([])
      else signal.addEventListener('abort', () => resolve([]), { once: true })
    })
    return await Promise.race([kept.found, gaveUp])
  }

  /** A listing in which a server is missing that is about to answer is soon made anew. */
  #cacheListing(agent: string, action: McpActionKind, now: number): CachedListing {
    const kept: CachedListing = { until: now + CACHE_MS, found: Promise.resolve([]) }
    const whenPartial = () => {
      kept.until = now + PARTIAL_CACHE_MS
    }
    kept.found = this.#list(agent, action, whenPartial).catch(() => [])
    return kept
  }

  async #list(agent: string, action: McpActionKind, whenPartial: () => void): Promise<ServerListing[]> {
    const { dispatch } = this.#options
    const signal = AbortSignal.timeout(LISTING_MS)
    const { agents } = await request(dispatch, 'mcpView', { agent }, signal)
    const servers = agents.flatMap((one) => one.servers)
    if (servers.some(({ state }) => state === McpPeerState.CONNECTING)) whenPartial()
    const running = servers.filter(({ state }) => state === McpPeerState.CONNECTED).map(({ name }) => name)
    const asked = running.map(async (name): Promise<ServerListing[]> => {
      const result = await request(dispatch, 'mcpAction', { agent, name, action }, signal).catch(
        () => undefined,
      )
      return result ? [{ server: name, result }] : []
    })
    return (await Promise.all(asked)).flat()
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

/** How long a listing is good for. */
const CACHE_MS = 10_000
const PARTIAL_CACHE_MS = 500
const LISTING_MS = 5_000
const MOST_RESOURCES = 20
