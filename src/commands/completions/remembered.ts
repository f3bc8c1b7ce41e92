import { MemoryStore } from '../../core/memory/memory-store.ts'
import { firstWords } from '../memory/list.ts'
import type { Candidate } from './suggest.ts'

/** Names and aliases of what an agent remembers, read from its file. */
export async function remembered(folder: string, agent: string): Promise<Candidate[]> {
  const store = new MemoryStore({
    folder,
    lock: async () => new AsyncDisposableStack(),
    now: Date.now,
  })
  const { entries } = await store.read(agent)
  return entries.flatMap(({ name, aliases, content }) => {
    const description = firstWords(content)
    return [name, ...aliases].map((value) => ({ value, description }))
  })
}
