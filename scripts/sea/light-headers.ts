import { resolve } from 'node:path'
import type { Patch } from './patch.ts'

const LIGHT_HEADERS = resolve(import.meta.dirname, '../../src/core/provider/light-headers.ts')

/**
 * Gives the AI SDK's request code our own `Headers`. It creates some for every call, and the first access to
 * the global class loads Node's whole built-in HTTP client, which nothing else uses.
 */
export const PATCHES: readonly Patch[] = [
  { filter: /[\\/]@ai-sdk[\\/]provider-utils[\\/]dist[\\/]index\.js$/, patch: useLightHeaders },
]

/** Returns the module with `Headers` imported; undefined when it no longer uses the global one. */
export function useLightHeaders(module: string): string | undefined {
  if (!module.includes('= new Headers(')) return undefined
  return `import { LightHeaders as Headers } from ${JSON.stringify(LIGHT_HEADERS)}\n${module}`
}
