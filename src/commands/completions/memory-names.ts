import { MemoryStore } from '../../core/memory/memory-store.ts'
import { previewContent } from '../memory/list.ts'
import type { WordCompletion } from './suggest.ts'

/** Returns the names and aliases in an agent's memory as completions, read from its file. */
export async function completeMemoryNames(folder: string, agent: string): Promise<WordCompletion[]> {
  const store = new MemoryStore({
    folder,
    lock: async () => new AsyncDisposableStack(),
    now: Date.now,
  })
  const { entries } = await store.read(agent)
  return entries.flatMap(({ name, aliases, content }) => {
    const description = previewContent(content)
    return [name, ...aliases].map((value) => ({ value, description }))
  })
}
