import type { LoginVault } from '../../../src/edge/oauth/login-store.ts'

/** Creates a vault in memory, for code that only needs somewhere to keep a login. */
export function memoryVault(items = new Map<string, string>()): LoginVault {
  return {
    get: async (name) => items.get(name),
    async set(values) {
      for (const [name, value] of Object.entries(values)) items.set(name, value)
    },
    remove: async (name) => items.delete(name),
  }
}
