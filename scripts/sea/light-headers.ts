import { resolve } from 'node:path'
import type { Patch } from './patch.ts'

const LIGHT_HEADERS = resolve(import.meta.dirname, '../../src/core/provider/light-headers.ts')

/**
 * Gives the AI SDK's request code our own `Headers`: it makes some for every call, and the first touch of the global
 * class loads Node's whole built-in HTTP client, which nothing else uses.
 */
export const PATCHES: readonly Patch[] = [
  { filter: /[\\/]@ai-sdk[\\/]provider-utils[\\/]dist[\\/]index\.js$/, patch: useLightHeaders },
]

/** That module with `Headers` imported; undefined when it no longer uses the global one. */
export function useLightHeaders(module: string): string | undefined {
  if (!module.includes('= new Headers(')) return undefined
  return `import { LightHeaders as Headers } from ${JSON.stringify(LIGHT_HEADERS)}\n${module}`
}
