import { CrabError, toCrabError } from '../base/errors.ts'
import type { Lease, Leases } from '../lease/types.ts'
import { findMemoryEntry } from '../memory/entries.ts'
import type { MemoryStore } from '../memory/memory-store.ts'
import type { CompactMarker, NewLine, Pair, SessionHeader, SessionPart, Storage } from '../storage/types.ts'
import {
  type Archives,
  advance,
  type Conversation,
  lastMarker,
  NO_HISTORY,
  replay,
  type SessionHistory,
} from './conversation.ts'

/** Where conversations live, and the rights to them. */
export interface ConversationStores {
  storage: Storage
  leases: Leases
  /** Conversations read before, by session id; only as good as their file length (decision 32). */
  cache: Map<string, Conversation>
  /** Where archives are; without it nothing can be compacted. */
  memory?: MemoryStore
}

/** How a session begins when the pair has none. */
export interface ConversationStart {
  pair: Pair
  header: SessionHeader
  /** The user's message, which is durable when the conversation is held. */
  first: NewLine
}

/** A conversation and the exclusive right to run a turn on it (decision 12); disposing gives the right back. */
export class LeasedConversation implements AsyncDisposable {
  readonly #stores: ConversationStores
  readonly #lease: Lease
  #conversation: Conversation
  /** Tool calls of one step report at once, and each append begins where the last one ended. */
  #appended: Promise<void> = Promise.resolve()
  /** Sentences about lines that could not be read. */
  readonly warnings: readonly string[]

  private constructor(options: {
    place: ConversationStores
    lease: Lease
    conversation: Conversation
    warnings: readonly string[]
  }) {
    this.#stores = options.place
    this.#lease = options.lease
    this.#conversation = options.conversation
    this.warnings = options.warnings
  }

  /**
   * Waits for its turn, creates the session when the pair has none, and appends the user's message.
   *
   * A session that is deleted while its turn is waited for is no failure: the pair begins another one.
   */
  static async lease(
    place: ConversationStores,
    beginning: ConversationStart,
    signal: AbortSignal,
  ): Promise<LeasedConversation> {
    for (let tries = 0; tries < 3; tries++) {
      const found = await findOrCreate(place, beginning, signal)
      const held = await LeasedConversation.#hold(place, found, { beginning, signal })
      if (held) return held
    }
    throw new CrabError('conflict', 'Cannot begin the turn: its conversation is deleted again and again')
  }

  /** Undefined when the session is gone. */
  static async #hold(
    place: ConversationStores,
    found: Found,
    { beginning, signal }: { beginning: ConversationStart; signal: AbortSignal },
  ): Promise<LeasedConversation | undefined> {
    if (found.created) return new LeasedConversation({ place, ...found.created, warnings: [] })
    try {
      const held = await LeasedConversation.open(
        place,
        { id: found.id, agent: beginning.header.agent },
        signal,
      )
      return await held.#begin(beginning.first)
    } catch (reason) {
      if (reason instanceof CrabError && reason.kind === 'missing') return undefined
      throw reason
    }
  }

  /** Waits for its turn on a session there is, and appends nothing. `agent` is its agent's name now. */
  static async open(
    place: ConversationStores,
    { id, agent }: { id: string; agent: string },
    signal: AbortSignal,
  ): Promise<LeasedConversation> {
    const lease = await place.leases.take(turnLeaseName(id), signal)
    try {
      return new LeasedConversation({ place, lease, ...(await catchUp(place, id, agent)) })
    } catch (reason) {
      await lease[Symbol.asyncDispose]()
      throw reason
    }
  }

  async #begin(first: NewLine): Promise<this> {
    try {
      await this.append([first])
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

  /** `seq` of its last line. */
  get lastLine(): number {
    return this.#conversation.cursor.seq
  }

  get history(): SessionHistory {
    return this.#conversation.history
  }

  /**
   * Appends whole lines, behind whatever is being appended; durable when it resolves. `archives` holds that of a compact
   * marker among them.
   */
  append(lines: readonly NewLine[], archives?: Archives): Promise<void> {
    const appended = this.#appended.then(() => this.#append(lines, archives))
    this.#appended = appended.catch(() => undefined) // whoever asked for it is told
    return appended
  }

  /** All of the session, also what is archived. */
  readAll(): Promise<SessionPart> {
    return this.#stores.storage.read(this.id)
  }

  async #append(lines: readonly NewLine[], archives: Archives | undefined): Promise<void> {
    const { id, header, history, cursor } = this.#conversation
    const end = await this.#stores.storage.append(id, cursor, lines)
    const stamped = lines.map((line, index) => ({ ...line, seq: cursor.seq + index + 1, ts: '' }))
    this.#conversation = { id, header, cursor: end, history: replay(history, stamped, archives) }
    remember(this.#stores.cache, this.#conversation)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#appended
    await this.#lease[Symbol.asyncDispose]()
  }
}

interface Found {
  id: string
  /** Set when this call made the session: its right was taken before anybody else could see it. */
  created?: { lease: Lease; conversation: Conversation }
}

/** One process at a time looks for a pair's session, so that two first messages make one session. */
async function findOrCreate(
  place: ConversationStores,
  beginning: ConversationStart,
  signal: AbortSignal,
): Promise<Found> {
  const { pair, header, first } = beginning
  await using _pair = await place.leases.take(pairLeaseName(pair), signal)
  const id = await place.storage.activeSession(pair)
  if (id !== undefined) return { id }
  const session = await place.storage.createSession(header, [first])
  const free = new AbortController().signal // nobody has seen this session: there is nothing to wait for
  const lease = await place.leases.take(turnLeaseName(session.id), free)
  const lines = [{ ...first, seq: session.cursor.seq, ts: '' }]
  const conversation = { id: session.id, header, cursor: session.cursor, history: replay(NO_HISTORY, lines) }
  remember(place.cache, conversation)
  return { id: session.id, created: { lease, conversation } }
}

/** What others appended since this process last looked. */
async function catchUp(
  place: ConversationStores,
  id: string,
  agent: string,
): Promise<{ conversation: Conversation; warnings: readonly string[] }> {
  const before = place.cache.get(id)
  const part = await place.storage.read(id, before?.cursor)
  const marker = lastMarker(part.lines)
  const { archives, warnings } = marker ? await readArchive(place, agent, marker) : NOTHING_ARCHIVED
  const conversation = advance(id, part, { before, archives })
  remember(place.cache, conversation)
  return { conversation, warnings: [...part.warnings, ...warnings] }
}

/** The archive of a marker, or a sentence about why it is not there: a conversation goes on without it. */
async function readArchive(
  { memory }: ConversationStores,
  agent: string,
  { archive_name: name, title }: CompactMarker,
): Promise<typeof NOTHING_ARCHIVED> {
  const gone = (why: string) => ({
    archives: new Map<string, string>(),
    warnings: [`The summary of what was said before, "${title}", is not available: ${why}`],
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
  if (conversation.history.archive?.isThere === false) return // it is looked for again the next time
  cache.delete(conversation.id)
  cache.set(conversation.id, conversation)
  if (cache.size <= CACHED_CONVERSATIONS) return
  const oldest = cache.keys().next()
  if (!oldest.done) cache.delete(oldest.value)
}

/** The lease that the right to run a turn on a session is. */
export function turnLeaseName(session: string): string {
  return `turn:${session}`
}

/** The lease of whoever looks for a pair's active session, or makes another one active. */
export function pairLeaseName({ agentId, sender }: Pair): string {
  return `pair:${agentId}:${sender}`
}
