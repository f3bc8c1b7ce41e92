import { CrabError, toCrabError } from '../base/errors.ts'
import { Serial } from '../base/serial.ts'
import type { Lease, Leases } from '../lease/types.ts'
import { findMemoryEntry } from '../memory/entries.ts'
import type { MemoryStore } from '../memory/memory-store.ts'
import { effectiveLines, hasRewrite } from '../storage/effective-lines.ts'
import type { CompactMarker, NewLine, Pair, SessionHeader, SessionPart, Storage } from '../storage/types.ts'
import {
  type Archives,
  advance,
  type Conversation,
  lastMarker,
  NO_HISTORY,
  replay,
  type SessionHistory,
  withDirectory,
} from './conversation.ts'

/** The stores of conversations, and the leases on them. */
export interface ConversationStores {
  storage: Storage
  leases: Leases
  /** Conversations read before, by session id; each is valid only together with its file length (ADR 0031). */
  cache: Map<string, Conversation>
  /** The store of archives; without it nothing can be compacted. */
  memory?: MemoryStore
}

/** The beginning of a new session, when the pair has none. */
export interface ConversationStart {
  pair: Pair
  header: SessionHeader
  /** The messages that a new session begins with. */
  before?: readonly NewLine[]
  /** The lines directly before the user's message, also when it does not begin the conversation. */
  lead?: readonly NewLine[]
  /** The user's message, which is durable by the time the conversation is leased. */
  first: NewLine
}

/** A conversation with the exclusive right to run a turn on it (ADR 0060); disposing it releases the lease. */
export class LeasedConversation implements AsyncDisposable {
  readonly #stores: ConversationStores
  readonly #lease: Lease
  /** The current name of its agent, whose memory has the archives. */
  readonly #agent: string
  #conversation: Conversation
  /**
   * Serializes appends: concurrent tool calls of one step append, and each append starts where the previous
   * one ended.
   */
  readonly #appends = new Serial()
  /** Sentences about lines that could not be read. */
  readonly warnings: readonly string[]

  private constructor(options: {
    stores: ConversationStores
    lease: Lease
    agent: string
    conversation: Conversation
    warnings: readonly string[]
  }) {
    this.#stores = options.stores
    this.#lease = options.lease
    this.#agent = options.agent
    this.#conversation = options.conversation
    this.warnings = options.warnings
  }

  /**
   * Waits for the lease, creates the session when the pair has none, and appends the user's message.
   *
   * A session that is deleted during the wait is not a failure: the pair starts a new one.
   */
  static async lease(
    stores: ConversationStores,
    start: ConversationStart,
    signal: AbortSignal,
  ): Promise<LeasedConversation> {
    for (let tries = 0; tries < 3; tries++) {
      const found = await findOrCreate(stores, start, signal)
      const leased = await LeasedConversation.#tryLease(stores, found, { start, signal })
      if (leased) return leased
    }
    throw new CrabError('conflict', 'Cannot start the turn: its conversation keeps being deleted')
  }

  /** Returns undefined when the session is gone. */
  static async #tryLease(
    stores: ConversationStores,
    found: Found,
    { start, signal }: { start: ConversationStart; signal: AbortSignal },
  ): Promise<LeasedConversation | undefined> {
    const { agent } = start.header
    if (found.created) return new LeasedConversation({ stores, agent, ...found.created, warnings: [] })
    try {
      const leased = await LeasedConversation.open(stores, { id: found.id, agent }, signal)
      return await leased.#appendFirst([...(start.lead ?? []), start.first])
    } catch (reason) {
      if (reason instanceof CrabError && reason.kind === 'missing') return undefined
      throw reason
    }
  }

  /**
   * Waits for the lease of an existing session, and appends nothing. `agent` is the current name of its
   * agent.
   */
  static async open(
    stores: ConversationStores,
    { id, agent }: { id: string; agent: string },
    signal: AbortSignal,
  ): Promise<LeasedConversation> {
    const lease = await stores.leases.take(turnLeaseName(id), signal)
    try {
      return new LeasedConversation({ stores, lease, agent, ...(await readConversation(stores, id, agent)) })
    } catch (reason) {
      await lease[Symbol.asyncDispose]()
      throw reason
    }
  }

  async #appendFirst(lines: readonly NewLine[]): Promise<this> {
    try {
      await this.append(lines)
      return this
    } catch (reason) {
      await this[Symbol.asyncDispose]()
      throw reason
    }
  }

  get id(): string {
    return this.#conversation.id
  }

  get header(): SessionHeader {
    return this.#conversation.header
  }

  /** The `seq` of its last line. */
  get lastLine(): number {
    return this.#conversation.cursor.seq
  }

  get history(): SessionHistory {
    return this.#conversation.history
  }

  /**
   * Appends whole lines after any appends in progress; durable when it resolves. `archives` must hold the
   * archive of each compact marker among the lines.
   */
  append(lines: readonly NewLine[], archives?: Archives): Promise<void> {
    return this.#appends.run(() => this.#append(lines, archives))
  }

  /** Reads the whole session, including archived messages. */
  readAll(): Promise<SessionPart> {
    return this.#stores.storage.read(this.id)
  }

  async #append(lines: readonly NewLine[], archives: Archives | undefined): Promise<void> {
    const { id, header, history, cursor } = this.#conversation
    const end = await this.#stores.storage.append(id, cursor, lines)
    if (hasRewrite(lines)) {
      this.#conversation = (await readConversation(this.#stores, id, this.#agent)).conversation
      return
    }
    const stamped = lines.map((line, index) => ({ ...line, seq: cursor.seq + index + 1, ts: '' }))
    this.#conversation = {
      id,
      header: withDirectory(header, lines),
      cursor: end,
      history: replay(history, stamped, archives),
    }
    remember(this.#stores.cache, this.#conversation)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#appends.settled()
    await this.#lease[Symbol.asyncDispose]()
  }
}

interface Found {
  id: string
  /**
   * Set when this call created the session: it took the lease before any other process could see the session.
   */
  created?: { lease: Lease; conversation: Conversation }
}

/**
 * Finds or creates a pair's session, one process at a time, so that two concurrent first messages create one
 * session.
 */
async function findOrCreate(
  stores: ConversationStores,
  start: ConversationStart,
  signal: AbortSignal,
): Promise<Found> {
  const { pair, header, first, before = [], lead = [] } = start
  await using _pair = await stores.leases.take(pairLeaseName(pair), signal)
  const id = await stores.storage.activeSession(pair)
  if (id !== undefined) return { id }
  const begin = [...before, ...lead, first]
  const session = await stores.storage.createSession(header, begin)
  // The session is not visible to others yet, so there is nothing to wait for.
  const free = new AbortController().signal
  const lease = await stores.leases.take(turnLeaseName(session.id), free)
  const lines = begin.map((line) => ({ ...line, seq: session.cursor.seq, ts: '' }))
  const conversation = { id: session.id, header, cursor: session.cursor, history: replay(NO_HISTORY, lines) }
  remember(stores.cache, conversation)
  return { id: session.id, created: { lease, conversation } }
}

/**
 * Reads what was appended to a session since this process last read it; needs no lease. `agent` is the current
 * name of its agent.
 */
export async function readConversation(
  stores: ConversationStores,
  id: string,
  agent: string,
): Promise<{ conversation: Conversation; warnings: readonly string[] }> {
  const before = stores.cache.get(id)
  const since = await stores.storage.read(id, before?.cursor)
  const part = !since.whole && hasRewrite(since.lines) ? await stores.storage.read(id) : since
  const marker = lastMarker(effectiveLines(part.lines))
  const { archives, warnings } = marker ? await readArchive(stores, agent, marker) : NOTHING_ARCHIVED
  const conversation = advance(id, part, { before, archives })
  remember(stores.cache, conversation)
  return { conversation, warnings: [...part.warnings, ...warnings] }
}

/**
 * Reads the archive of a marker, or returns a warning about why it is unavailable: a conversation continues
 * without it.
 */
async function readArchive(
  { memory }: ConversationStores,
  agent: string,
  { archive_name: name, title }: CompactMarker,
): Promise<typeof NOTHING_ARCHIVED> {
  const gone = (why: string) => ({
    archives: new Map<string, string>(),
    warnings: [`The summary of the earlier messages, "${title}", is not available: ${why}`],
  })
  try {
    const entry = memory && findMemoryEntry(await memory.read(agent), name)
    return entry
      ? { archives: new Map([[name, entry.content]]), warnings: [] }
      : gone(`the memory of "${agent}" has no archive ${name}`)
  } catch (reason) {
    return gone(toCrabError(reason).message)
  }
}

const NOTHING_ARCHIVED: { archives: Archives; warnings: readonly string[] } = {
  archives: new Map(),
  warnings: [],
}

const CACHED_CONVERSATIONS = 32

function remember(cache: Map<string, Conversation>, conversation: Conversation): void {
  if (conversation.history.archive?.isThere === false) return // the next read tries to find the archive again
  cache.delete(conversation.id)
  cache.set(conversation.id, conversation)
  if (cache.size <= CACHED_CONVERSATIONS) return
  const oldest = cache.keys().next()
  if (!oldest.done) cache.delete(oldest.value)
}

/** The name of the lease that gives the right to run a turn on a session. */
export function turnLeaseName(session: string): string {
  return `turn:${session}`
}

/** The name of the lease needed to look up, create or switch a pair's active session. */
export function pairLeaseName({ agentId, sender }: Pair): string {
  return `pair:${agentId}:${sender}`
}
