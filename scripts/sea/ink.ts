import { join } from 'node:path'
import { type Patch, replaceOnly } from './patch.ts'

/**
 * Removes top-level await from Ink, which a chunk loaded with `require` cannot have: drops its connection to
 * React's developer tools, and starts the layout engine synchronously, without the `fetch` that would load
 * Node's HTTP client. Also keeps Ink from starting programs.
 */
export const PATCHES: readonly Patch[] = [
  { filter: /[\\/]ink[\\/]build[\\/]utils\.js$/, patch: withoutPrograms },
  { filter: /[\\/]ink[\\/]build[\\/]reconciler\.js$/, patch: withoutDevelopment },
  { filter: /[\\/]signal-exit[\\/]index\.js$/, patch: withoutAssert },
  { filter: /[\\/]yoga-layout[\\/]dist[\\/]src[\\/]index\.js$/, patch: startedAtOnce },
  { filter: /[\\/]yoga-layout[\\/]dist[\\/]binaries[\\/]yoga-wasm-base64-esm\.js$/, patch: withBytesApart },
]

const DEVELOPMENT = "if (process.env['DEV'] === 'true') {"

/** Removes the two development blocks of Ink's reconciler, its only top-level awaits. */
export function withoutDevelopment(module: string): string | undefined {
  const parts = module.split(DEVELOPMENT)
  return parts.length === 3 ? parts.join('if (false) {') : undefined
}

const TERMINAL_SIZE = "import terminalSize from 'terminal-size';"

/**
 * Keeps Ink from running `tput` and other programs when the stream does not know the window size; Ink has a
 * default.
 */
export function withoutPrograms(module: string): string | undefined {
  return replaceOnly(module, TERMINAL_SIZE, 'const terminalSize = () => ({});')
}

const ASSERT = "var assert = require('assert')"

/** Removes node:assert from signal-exit, which loads it to check one argument. */
export function withoutAssert(module: string): string | undefined {
  return replaceOnly(module, ASSERT, 'var assert = { equal() {} }')
}

const LOADER = "import loadYoga from '../binaries/yoga-wasm-base64-esm.js';"
const STARTER = `import loadYoga, { base64 } from '../binaries/yoga-wasm-base64-esm.js';
import { startYoga } from ${JSON.stringify(join(import.meta.dirname, 'yoga.ts'))};`

/** Makes yoga's entry start synchronously. */
export function startedAtOnce(module: string): string | undefined {
  const ours = replaceOnly(module, LOADER, STARTER)
  return ours && replaceOnly(ours, 'await loadYoga()', 'startYoga(loadYoga, base64)')
}

const DATA_URL = /"data:application\/octet-stream;base64,([A-Za-z0-9+/=]{50000,})"/

/** Exports the WebAssembly of yoga's loader instead of fetching it from a data URL. */
export function withBytesApart(module: string): string | undefined {
  const base64 = DATA_URL.exec(module)?.[1]
  if (base64 === undefined || !module.includes('h.instantiateWasm')) return undefined
  const loader = replaceOnly(module.replace(DATA_URL, '""'), 'import.meta.url', '""')
  return loader && `${loader}\nexport const base64 = "${base64}"\n`
}
