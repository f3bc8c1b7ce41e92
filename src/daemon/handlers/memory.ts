import type {
  ListMemory,
  MemoryEntry,
  MemoryHits,
  MemoryList,
  MemoryOp,
  ReplaceMemory,
  SearchMemory,
} from '../../core/protocol/crabtalk.generated.ts'
import type { Services } from '../services.ts'
import { notYet } from './not-yet.ts'
import type { Served } from './served.ts'

/** `search_memory`: entries of an agent's memory, best first. */
export async function searchMemory(_served: Served, _message: SearchMemory): Promise<MemoryHits> {
  return await notYet('searchMemory')()
}

/** `list_memory`: entries by name, page by page, or one of them. */
export async function listMemory(_served: Served, _message: ListMemory): Promise<MemoryList> {
  return await notYet('listMemory')()
}

/** `memory_op`: one change. */
export async function memoryOp(
  _services: Services,
  _message: MemoryOp,
  _signal: AbortSignal,
): Promise<MemoryEntry> {
  return await notYet('memoryOp')()
}

/** `replace_memory`: a whole memory in place of another, in one step. */
export async function replaceMemory(
  _services: Services,
  _message: ReplaceMemory,
  _signal: AbortSignal,
): Promise<MemoryList> {
  return await notYet('replaceMemory')()
}
