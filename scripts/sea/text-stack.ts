import { join } from 'node:path'
import { type Patch, replaceOnly } from './patch.ts'

const PLAIN_TEXT = JSON.stringify(join(import.meta.dirname, 'plain-text.ts'))

/**
 * Makes the packages lazy with which Ink measures and cuts text: each builds an Intl.Segmenter, or emoji
 * tables, when it is loaded.
 */
export const PATCHES: readonly Patch[] = [
  { filter: /[\\/]ink[\\/]build[\\/]line-update\.js$/, patch: withLazySegmenter },
  { filter: /[\\/](slice-ansi[\\/]tokenize-ansi|wrap-ansi[\\/]index)\.js$/, patch: withLazySegmenter },
  { filter: /[\\/]ansi-tokenize[\\/]build[\\/]tokenize\.js$/, patch: withLazySegmenter },
  { filter: /[\\/]string-width[\\/]index\.js$/, patch: (_, path) => plainFirst(path) },
]

const SEGMENTER = /new Intl\.Segmenter\([^)]*\)/

/** Returns a module whose only segmenter is built on first use. */
export function withLazySegmenter(module: string): string | undefined {
  const expression = SEGMENTER.exec(module)?.[0]
  const lazy = expression && replaceOnly(module, expression, `lazySegmenter(() => ${expression})`)
  return lazy && `import { lazySegmenter } from ${PLAIN_TEXT};\n${lazy}`
}

/**
 * Returns a string-width that handles plain text itself, and loads the package for other text, under a path
 * that no patch matches.
 */
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
