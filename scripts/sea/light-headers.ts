import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Plugin } from 'esbuild'

const LIGHT_HEADERS = resolve(import.meta.dirname, '../../src/core/provider/light-headers.ts')

/**
 * Gives the AI SDK's request code our own `Headers`: it makes some for every call, and the first touch of the global
 * class loads Node's whole built-in HTTP client, which nothing else uses.
 */
export const lightHeaders: Plugin = {
  name: 'light-headers',
  setup(build) {
    build.onLoad({ filter: /[\\/]@ai-sdk[\\/]provider-utils[\\/]dist[\\/]index\.js$/ }, async ({ path }) => {
      return { contents: useLightHeaders(await readFile(path, 'utf8')), loader: 'js' }
    })
  },
}

/** That module with `Headers` imported. Throws when it no longer uses the global one. */
export function useLightHeaders(module: string): string {
  if (module.includes('= new Headers(')) {
    return `import { LightHeaders as Headers } from ${JSON.stringify(LIGHT_HEADERS)}\n${module}`
  }
  throw new Error(
    'Cannot replace Headers in @ai-sdk/provider-utils: it has changed; adapt scripts/sea/light-headers.ts',
  )
}
