import { takeEnd, takeStart } from '../../base/truncate.ts'
import { findMemoryEntry } from '../../memory/entries.ts'
import type { MemoryStore } from '../../memory/memory-store.ts'
import { rememberOp } from '../../memory/remember.ts'
import { toIsoTime } from '../../memory/time.ts'
import type { Memory, MemoryEntry } from '../../memory/types.ts'
import { matchesIn } from '../../search/terms/query-words.ts'
import type { MemoryCall } from './arguments.ts'

/** The dependencies of the memory tools. */
export interface MemoryPort {
  memory: MemoryStore
  /** Milliseconds since 1970. */
  now(): number
}

/** The memory of one agent. */
interface AgentMemory extends MemoryPort {
  agent: string
}

/** Runs a call, and returns a sentence for the model. Throws as the memory does. */
export async function runMemoryTool(
  call: MemoryCall,
  target: AgentMemory,
  signal: AbortSignal,
): Promise<string> {
  switch (call.tool) {
    case 'remember':
      return await remember(call, target, signal)
    case 'forget': {
      const { name, content } = await target.memory.apply(
        target.agent,
        { op: 'remove', name: call.name },
        signal,
      )
      return `Forgot ${quote(name)}, which said: ${inShort(content)}`
    }
    case 'recall':
      return await recall(call, target)
  }
}

type CallOf<K extends MemoryCall['tool']> = Extract<MemoryCall, { tool: K }>

async function remember(
  { name, content, aliases }: CallOf<'remember'>,
  { memory, agent, now }: AgentMemory,
  signal: AbortSignal,
): Promise<string> {
  const op = rememberOp({ name, content, aliases, now: now() })
  let before: string | undefined
  const withPrevious = (known: Memory) => {
    before = findMemoryEntry(known, name)?.content
    return op(known)
  }
  const entry = await memory.apply(agent, withPrevious, signal)
  if (before === undefined || before === content) return `Remembered ${quote(entry.name)}`
  return `Remembered ${quote(entry.name)} in place of: ${inShort(before)}`
}

/** Searches the memory; an entry whose name is exactly the query comes first, and whole. */
async function recall({ query, limit }: CallOf<'recall'>, { memory, agent }: AgentMemory): Promise<string> {
  const known = await memory.read(agent)
  const named = findMemoryEntry(known, query)
  const found = await memory.search(agent, { query, limit })
  const others = found.flatMap(({ entry }) => (entry.id === named?.id ? [] : [showMatch(entry, query)]))
  const shown = [...(named ? [showEntry(named)] : []), ...others].slice(0, limit)
  return shown.length > 0 ? shown.join('\n\n') : describeNoMatch(known, query)
}

/**
 * Builds the answer for an empty result. It lists the names of the notes, so that the model can try other
 * words.
 */
function describeNoMatch({ entries }: Memory, query: string): string {
  const notes = entries.filter(({ kind }) => kind !== 'archive').map(({ name }) => quote(name))
  if (entries.length === 0) return 'The memory is empty'
  const names = notes.length > 0 && notes.length <= MAX_NAMES ? `; it knows ${notes.join(', ')}` : ''
  return `Nothing is remembered about ${quote(query)}${names}`
}

/** Formats an entry for a model, truncated to 24,000 characters. */
export function showEntry(entry: MemoryEntry): string {
  const { content } = entry
  return `${formatHeading(entry)}\n${content.length <= WHOLE_CHARS ? content : `${takeStart(content, WHOLE_CHARS)}…`}`
}

/** Formats a search result; of a long entry it shows the part around the first match. */
function showMatch(entry: MemoryEntry, query: string): string {
  const { content } = entry
  if (content.length <= MATCH_CHARS) return `${formatHeading(entry)}\n${content}`
  const [first = 0] = matchesIn(content, query)
  const before = Buffer.from(content).subarray(0, first).toString()
  const lead = takeEnd(before, MATCH_CHARS / 4)
  const start = before.length - lead.length
  const excerpt = takeStart(content.slice(start), MATCH_CHARS)
  const more = start + excerpt.length < content.length ? '…' : ''
  return `${formatHeading(entry)} (a part; recall it by its name for all)\n${start > 0 ? '…' : ''}${excerpt}${more}`
}

const WHOLE_CHARS = 24_000
const MATCH_CHARS = 1500

function formatHeading({ name, kind, aliases, createdAt }: MemoryEntry): string {
  const others = aliases.length > 0 ? ` (also ${aliases.join(', ')})` : ''
  return `[${name}]${others} ${kind} of ${toIsoTime(createdAt).split('T')[0]}`
}

const MAX_NAMES = 30
const SHORT_CHARS = 300

function inShort(content: string): string {
  return content.length <= SHORT_CHARS ? content : `${takeStart(content, SHORT_CHARS)}…`
}

function quote(name: string): string {
  return JSON.stringify(name)
}
