import { join } from 'node:path'
import { type Patch, replaceOnly } from './patch.ts'

/**
 * Ink without top-level await, which a chunk that is loaded by `require` cannot have: its connection to React's developer
 * tools goes, and the layout engine starts at once, without the `fetch` that would load Node's HTTP client. Nor does it
 * start programs.
 */
export const PATCHES: readonly Patch[] = [
  { filter: /[\\/]ink[\\/]build[\\/]utils\.js$/, patch: withoutPrograms },
  { filter: /[\\/]ink[\\/]build[\\/]reconciler\.js$/, patch: withoutDevelopment },
  { filter: /[\\/]signal-exit[\\/]index\.js$/, patch: withoutAssert },
  { filter: /[\\/]yoga-layout[\\/]dist[\\/]src[\\/]index\.js$/, patch: startedAtOnce },
  { filter: /[\\/]yoga-layout[\\/]dist[\\/]binaries[\\/]yoga-wasm-base64-esm\.js$/, patch: withBytesApart },
]

const DEVELOPMENT = "if (process.env['DEV'] === 'true') {"

/** Ink's reconciler without its two blocks for development, the only ones that wait while they are loaded. */
export function withoutDevelopment(module: string): string | undefined {
  const parts = module.split(DEVELOPMENT)
  return parts.length === 3 ? parts.join('if (false) {') : undefined
}

const TERMINAL_SIZE = "import terminalSize from 'terminal-size';"

/** Ink's look at the window, which asks `tput` and others when the stream does not know; it has a default for that. */
export function withoutPrograms(module: string): string | undefined {
  return replaceOnly(module, TERMINAL_SIZE, 'const terminalSize = () => ({});')
}

const ASSERT = "var assert = require('assert')"

/** signal-exit without node:assert, which it loads to check one argument. */
export function withoutAssert(module: string): string | undefined {
  return replaceOnly(module, ASSERT, 'var assert = { equal() {} }')
}

const LOADER = "import loadYoga from '../binaries/yoga-wasm-base64-esm.js';"
const STARTER = `import loadYoga, { base64 } from '../binaries/yoga-wasm-base64-esm.js';
import { startYoga } from ${JSON.stringify(join(import.meta.dirname, 'yoga.ts'))};`

/** yoga's entry, which does not wait. */
export function startedAtOnce(module: string): string | undefined {
  const ours = replaceOnly(module, LOADER, STARTER)
  return ours && replaceOnly(ours, 'await loadYoga()', 'startYoga(loadYoga, base64)')
}

const DATA_URL = /"data:application\/octet-stream;base64,([A-Za-z0-9+/=]{50000,})"/

/** yoga's loader with its WebAssembly as an export instead of an address to fetch. */
export function withBytesApart(module: string): string | undefined {
  const base64 = DATA_URL.exec(module)?.[1]
  if (base64 === undefined || !module.includes('h.instantiateWasm')) return undefined
  const loader = replaceOnly(module.replace(DATA_URL, '""'), 'import.meta.url', '""')
  return loader && `${loader}\nexport const base64 = "${base64}"\n`
}
