import { AgentStore } from '../../src/core/config/agents.ts'
import type { HomePaths } from '../../src/core/config/paths.ts'
import { MemoryLeases } from '../../src/core/lease/memory-leases.ts'

/** The agents of a home that only this process uses. */
export function agentStore(paths: HomePaths): AgentStore {
  const leases = new MemoryLeases()
  const { signal } = new AbortController()
  return new AgentStore({ paths, lock: (resource) => leases.take(resource, signal) })
}
