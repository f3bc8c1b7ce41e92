import { readFile } from 'node:fs/promises'
import { type Plugin, transform } from 'esbuild'
import { PATCHES as BEDROCK } from './bedrock.ts'
import { PATCHES as INK } from './ink.ts'
import { PATCHES as LIGHT_HEADERS } from './light-headers.ts'
import { PATCHES as MODEL_STREAMS } from './model-streams.ts'
import type { Patch } from './patch.ts'
import { PATCHES as PKCE } from './pkce.ts'
import { PATCHES as TEXT_STACK } from './text-stack.ts'
import { PATCHES as ZOD_COMPILE } from './zod-compile.ts'
import { PATCHES as ZOD_LOCALES } from './zod-locales.ts'
import { PATCHES as ZOD_NAMESPACE } from './zod-namespace.ts'

const PATCHES: readonly Patch[] = [
  ...BEDROCK,
  ...INK,
  ...LIGHT_HEADERS,
  ...MODEL_STREAMS,
  ...PKCE,
  ...TEXT_STACK,
  ...ZOD_COMPILE,
  ...ZOD_LOCALES,
  ...ZOD_NAMESPACE,
]

/**
 * Loads packages with our patches and shortened internal names. Our own code keeps its names, so that stack
 * traces are readable.
 */
export const packages: Plugin = {
  name: 'packages',
  setup(build) {
    build.onLoad({ filter: /[\\/]node_modules[\\/].*\.[cm]?js$/ }, async ({ path, suffix, pluginData }) => {
      const text = await applyPatches(path + suffix, await readFile(path, 'utf8'))
      const { code } = await transform(text, { ...SHORTER, sourcefile: path })
      return { contents: code, loader: 'js', pluginData }
    })
  },
}

/** Shortens names only: the bundler needs the rest, such as comments that mark calls as pure. */
const SHORTER = { minifyIdentifiers: true, target: 'node26', logLevel: 'silent' } as const

/** An import of node:process, which is the same as the global. */
const PROCESS = /^import process from ['"]node:process['"];?$/gm
/** A default import of a built-in module, of which esbuild would make a copy, property by property. */
const BUILTIN = /^import (\w+) from ['"](node:[\w/]+)['"];?$/gm

/** Returns the text of a package's file with its patches applied. Throws when a patch no longer matches. */
export function applyPatches(path: string, text: string): string {
  let patched = text
  for (const { filter, patch } of PATCHES) {
    const next = filter.test(path) ? patch(patched, path) : patched
    if (next === undefined)
      throw new Error(`Cannot bundle ${path}: it has changed; adapt the patches in scripts/sea`)
    patched = next
  }
  return patched
    .replaceAll(PROCESS, '')
    .replaceAll(BUILTIN, 'const $1 = globalThis.process.getBuiltinModule("$2");')
}
