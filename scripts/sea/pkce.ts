import { type Patch, replaceOnly } from './patch.ts'

/**
 * Patches the package with which the MCP SDK proves that it began a sign-in. Otherwise it loads Node's
 * cryptography whenever a server starts, although crabtalk never signs in.
 */
export const PATCHES: readonly Patch[] = [
  { filter: /[\\/]pkce-challenge[\\/]dist[\\/]index\.node\.js$/, patch: loadCryptoLater },
]

const AT_START = /^let crypto;\ncrypto =\n(?: {4,}.*\n){3}/

/** Returns the module with Node's cryptography looked up when it is used. */
export function loadCryptoLater(module: string): string | undefined {
  const text = module.match(AT_START)?.[0]
  return text && replaceOnly(module, text, '')?.replaceAll('(await crypto)', 'globalThis.crypto')
}
