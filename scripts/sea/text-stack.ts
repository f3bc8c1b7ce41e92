import { join } from 'node:path'
import { type Patch, replaceOnly } from './patch.ts'

const PLAIN_TEXT = JSON.stringify(join(import.meta.dirname, 'plain-text.ts'))

/**
 * What Ink measures and cuts text with, made lazy: the packages build an Intl.Segmenter each, and tables of emoji, when
 * they are loaded.
 */
export const PATCHES: readonly Patch[] = [
  { filter: /[\\/]ink[\\/]build[\\/]line-update\.js$/, patch: withLazySegmenter },
  { filter: /[\\/](slice-ansi[\\/]tokenize-ansi|wrap-ansi[\\/]index)\.js$/, patch: withLazySegmenter },
  { filter: /[\\/]ansi-tokenize[\\/]build[\\/]tokenize\.js$/, patch: withLazySegmenter },
  { filter: /[\\/]string-width[\\/]index\.js$/, patch: (_, path) => plainFirst(path) },
]

const SEGMENTER = /new Intl\.Segmenter\([^)]*\)/

/** A module whose only segmenter is made when it is needed. */
export function withLazySegmenter(module: string): string | undefined {
  const made = SEGMENTER.exec(module)?.[0]
  const lazy = made && replaceOnly(module, made, `lazySegmenter(() => ${made})`)
  return lazy && `import { lazySegmenter } from ${PLAIN_TEXT};\n${lazy}`
}

/** A string-width that answers for plain text, and loads the package at the first text that is not: by a name that no patch is for. */
function plainFirst(path: string): string {
  return `import { plainWidth } from ${PLAIN_TEXT}
let real
export { stringWidth as default }
function stringWidth(text, options) {
  const width = plainWidth(text, options)
  if (width !== undefined) return width
  real ??= require(${JSON.stringify(`${path}?real`)}).default
  return real(text, options)
}`
}
