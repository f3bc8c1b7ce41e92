import { join } from 'node:path'
import type { Plugin } from 'esbuild'
import { patchFiles, replaceOnly } from './patch.ts'

const PLAIN_TEXT = JSON.stringify(join(import.meta.dirname, 'plain-text.ts'))

/**
 * What Ink measures and cuts text with, made lazy: the packages build an Intl.Segmenter each, and tables of emoji, when
 * they are loaded.
 */
export const textStack: Plugin = {
  name: 'text-stack',
  setup(build) {
    const path =
      '[\\\\/](ink[\\\\/]build[\\\\/]line-update|slice-ansi[\\\\/]tokenize-ansi|wrap-ansi[\\\\/]index'
    const filter = new RegExp(`${path}|ansi-tokenize[\\\\/]build[\\\\/]tokenize)\\.js$`)
    patchFiles(build, [{ filter, patch: withLazySegmenter }])
    build.onLoad({ filter: /[\\/]string-width[\\/]index\.js$/, namespace: 'file' }, ({ path, suffix }) =>
      suffix === REAL ? undefined : { contents: plainFirst(path), loader: 'js' },
    )
  },
}

const SEGMENTER = /new Intl\.Segmenter\([^)]*\)/

/** A module whose only segmenter is made when it is needed. */
export function withLazySegmenter(module: string): string | undefined {
  const made = SEGMENTER.exec(module)?.[0]
  const lazy = made && replaceOnly(module, made, `lazySegmenter(() => ${made})`)
  return lazy && `import { lazySegmenter } from ${PLAIN_TEXT};\n${lazy}`
}

/** Marks the package itself, where the other module of its name asks for it. */
const REAL = '?real'

/** A string-width that answers for plain text, and loads the package at the first text that is not. */
function plainFirst(path: string): string {
  return `import { plainWidth } from ${PLAIN_TEXT}
let real
export default function stringWidth(text, options) {
  const width = plainWidth(text, options)
  if (width !== undefined) return width
  real ??= require(${JSON.stringify(path + REAL)}).default
  return real(text, options)
}`
}
