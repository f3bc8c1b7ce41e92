import { MemoryStore } from '../memory/memory-store.ts'
import type { MemoryEntry } from '../memory/types.ts'

/** Reads an agent's memory from its file, without waiting for a writer. */
export async function readStoredMemory(folder: string, agent: string): Promise<readonly MemoryEntry[]> {
  const lock = async () => new AsyncDisposableStack()
  return (await new MemoryStore({ folder, lock, now: Date.now }).read(agent)).entries
}
