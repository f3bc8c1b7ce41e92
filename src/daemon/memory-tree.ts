import { dumpTree } from '../core/memory/tree/dump-tree.ts'
import { loadTree } from '../core/memory/tree/load-tree.ts'
import type { MemoryEntry } from '../core/protocol/crabtalk.generated.ts'
import { fromWireEntry, treeToWire } from './handlers/memory-entry.ts'

/** Writes entries as they come over the wire to a tree of Markdown files, as `dumpTree()` does. */
export async function dumpWireEntries(
  folder: string,
  entries: readonly MemoryEntry[],
  signal: AbortSignal,
): Promise<{ removed: number }> {
  return await dumpTree(folder, entries.map(fromWireEntry), signal)
}

/** Reads a tree as the entries that `replace_memory` takes, and the paths of the files that are not read. */
export async function loadWireEntries(
  folder: string,
  signal: AbortSignal,
): Promise<{ entries: MemoryEntry[]; ignored: readonly string[] }> {
  const { entries, ignored } = await loadTree(folder, signal)
  return { entries: entries.map(treeToWire), ignored }
}
