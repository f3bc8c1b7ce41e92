import { CrabError } from '../../core/base/errors.ts'
import { nameProblem } from '../../core/config/agent-schema.ts'
import { DEFAULT_AGENT } from '../../core/config/default-name.ts'
import { findMemoryEntry, missingEntry } from '../../core/memory/entries.ts'
import type { Op } from '../../core/memory/ops.ts'
import { rememberOp } from '../../core/memory/remember.ts'
import { type MemoryEntry as Entry, MAX_MEMORY_HITS, type Memory } from '../../core/memory/types.ts'
import type {
  ListMemory,
  MemoryEntry,
  MemoryHits,
  MemoryList,
  MemoryOp,
  ReplaceMemory,
  SearchMemory,
} from '../../core/protocol/crabtalk.generated.ts'
import { matchesIn } from '../../core/search/terms/query-words.ts'
import type { Services } from '../services.ts'
import { fromWireEntry, fromWireKind, toWireEntry } from './memory-entry.ts'
import { takeFitting } from './take-fitting.ts'

/** Handles `search_memory`: returns the entries of an agent's memory that match, best first. */
export async function searchMemory(
  services: Pick<Services, 'agents' | 'memory'>,
  { agent: agentName, query, limit }: SearchMemory,
): Promise<MemoryHits> {
  const { memory } = services
  const agent = await resolveMemoryAgent(services, agentName)
  const found = await memory.search(agent, {
    query,
    limit: Math.min(limit || 20, MAX_MEMORY_HITS),
  })
  let scannedChars = 0
  const hits = found.map(({ entry, score }) => {
    scannedChars += entry.content.length
    const matches = scannedChars > MAX_SCANNED_CHARS ? [] : matchesIn(entry.content, query)
    return { entry: toWireEntry(entry), score, matches }
  })
  return { hits: takeFitting(hits, ({ entry }) => measureWireEntry(entry), REPLY_BYTES) }
}

/** Handles `list_memory`: returns a page of entries sorted by name, or a single entry. */
export async function listMemory(
  services: Pick<Services, 'agents' | 'memory'>,
  message: ListMemory,
): Promise<MemoryList> {
  const { name, kind, offset, limit } = message
  const memory = await services.memory.read(await resolveMemoryAgent(services, message.agent))
  if (name !== '') return { entries: [toWireEntry(requireMemoryEntry(memory, name))], total: 1 }
  const kindFilter = kind === undefined ? undefined : fromWireKind(kind)
  const all = memory.entries.filter((entry) => kind === undefined || entry.kind === kindFilter)
  const sorted = all.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const page = sorted.slice(offset, offset + Math.min(limit || 100, MAX_PAGE)).map(toWireEntry)
  return { entries: takeFitting(page, measureWireEntry, REPLY_BYTES), total: all.length }
}

/** Handles `memory_op`: applies one change. */
export async function memoryOp(
  services: Pick<Services, 'agents' | 'memory' | 'now'>,
  message: MemoryOp,
  signal: AbortSignal,
): Promise<MemoryEntry> {
  const agent = await resolveMemoryAgent(services, message.agent)
  return toWireEntry(await services.memory.apply(agent, toMemoryOp(message, services.now()), signal))
}

/** Handles `replace_memory`: replaces a whole memory in one step. */
export async function replaceMemory(
  services: Pick<Services, 'agents' | 'memory' | 'now'>,
  message: ReplaceMemory,
  signal: AbortSignal,
): Promise<MemoryList> {
  const agent = await resolveMemoryAgent(services, message.agent)
  const now = new Date(services.now()).toISOString()
  const entries = message.entries.map((entry) =>
    fromWireEntry({ ...entry, createdAt: entry.createdAt || now }),
  )
  const after = await services.memory.replace(agent, entries, signal)
  const sorted = after.entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const summaries = sorted.map((entry) => toWireEntry({ ...entry, content: '' }))
  return { entries: takeFitting(summaries, measureWireEntry, REPLY_BYTES), total: summaries.length }
}

const MAX_PAGE = 1000
/**
 * The number of characters of content in which matches are located, starting with the best hit; takes about
 * 20 ms.
 */
const MAX_SCANNED_CHARS = 200_000

/** The maximum size in bytes of the entries in a reply, so that it fits a frame with room to spare. */
const REPLY_BYTES = 8 * 1024 * 1024

/**
 * Resolves the exact name of an agent; an agent that was deleted or cannot be read is found if it left a
 * memory.
 */
async function resolveMemoryAgent(
  { agents, memory }: Pick<Services, 'agents' | 'memory'>,
  name: string,
): Promise<string> {
  try {
    return (await agents.get(name || DEFAULT_AGENT, { create: false })).name
  } catch (reason) {
    if (nameProblem(name) === undefined && (await memory.has(name))) return name
    throw reason
  }
}

/** Finds an entry by its name or an alias; throws when there is none. */
function requireMemoryEntry(memory: Memory, name: string): Entry {
  const entry = findMemoryEntry(memory, name)
  if (entry) return entry
  throw missingEntry(memory, name, `Cannot show "${name}"`)
}

function toMemoryOp({ op }: MemoryOp, now: number): Op | ((memory: Memory) => Op) {
  switch (op?.$case) {
    case 'remember':
      return rememberOp({ ...op.value, now })
    case 'forget':
      return { op: 'remove', name: op.value.name }
    case 'rename':
      return { op: 'rename', name: op.value.name, to: op.value.newName }
    case 'alias':
      return { op: 'alias', ...op.value }
    default:
      throw new CrabError('invalid', 'Cannot change the memory: the message has no operation')
  }
}

function measureWireEntry({ name, content, aliases }: MemoryEntry): number {
  return aliases.reduce(
    (sum, alias) => sum + Buffer.byteLength(alias),
    100 + Buffer.byteLength(name + content),
  )
}
