import { readFile } from 'node:fs/promises'
import { type Plugin, transform } from 'esbuild'
import { PATCHES as BEDROCK } from './bedrock.ts'
import { PATCHES as INK } from './ink.ts'
import { PATCHES as LIGHT_HEADERS } from './light-headers.ts'
import type { Patch } from './patch.ts'
import { PATCHES as TEXT_STACK } from './text-stack.ts'
import { PATCHES as ZOD_LOCALES } from './zod-locales.ts'
import { PATCHES as ZOD_NAMESPACE } from './zod-namespace.ts'

const PATCHES: readonly Patch[] = [
  ...BEDROCK,
  ...INK,
  ...LIGHT_HEADERS,
  ...TEXT_STACK,
  ...ZOD_LOCALES,
  ...ZOD_NAMESPACE,
]

/**
 * Packages as they are bundled: changed in the few places that patches name, with short names for what they do not
 * export. Our own code keeps its names, which is what a stack trace is read for.
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

/** No more than names: the bundler needs the rest, such as comments that call a function pure. */
const SHORTER = { minifyIdentifiers: true, target: 'node26', logLevel: 'silent' } as const

/** The global of that name is the same. */
const PROCESS = /^import process from ['"]node:process['"];?$/gm
/** Of a built-in as a whole esbuild makes a copy, property by property. */
const BUILTIN = /^import (\w+) from ['"](node:[\w/]+)['"];?$/gm

/** The text of a package's file with the patches for it. Throws when one of them does not fit any more. */
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
