import { CrabError } from '../base/errors.ts'
import { parseHttpUrl } from '../base/server-address.ts'
import { normalizeBaseUrl } from '../config/config.ts'
import type { ProviderKind } from '../config/config-schema.ts'

/** The wire protocol of a model server: the format of its requests and streams. */
export type Wire = 'chat' | 'responses' | 'messages' | 'gemini' | 'converse'

/**
 * Returns the wire of a provider at an address as the user wrote it.
 *
 * Kind `openai` uses Responses for OpenAI itself and chat completions for all other hosts, which may support
 * nothing else; an address that ends in `/responses` says that its server supports Responses, too. Kind
 * `google` uses chat completions for an address that ends in `/openai`, Google's own address for that.
 */
export function wireAt(kind: ProviderKind, address: string): Wire {
  switch (kind) {
    case 'anthropic':
      return 'messages'
    case 'google':
      return /\/openai(\/chat\/completions)?\/*$/.test(address) ? 'chat' : 'gemini'
    case 'bedrock':
      return 'converse'
    case 'azure':
      return 'responses'
    case 'openai':
      return isOpenAI(address) || RESPONSES.test(address) ? 'responses' : 'chat'
    case 'openai-compatible':
      return 'chat'
  }
}

/** Normalizes an address for the SDK: removes a trailing slash or endpoint, and adds a missing version. */
export function toBaseUrl(address: string, kind: ProviderKind, where: string): string {
  const url = parseHttpUrl(normalizeBaseUrl(address.trim()).replace(RESPONSES, ''))
  if (url === undefined) {
    throw new CrabError('config', `Cannot use base_url (${where}): it is not an http address`, {
      hint: 'for example http://localhost:4000/v1',
    })
  }
  if (kind === 'azure') return `${url.origin}${azurePath(url.pathname)}`
  return `${url.href.replace(/\/$/, '')}${missingVersion(kind, url.pathname)}`
}

/** Whether an address belongs to OpenAI itself, including regional hosts such as `eu.api.openai.com`. */
export function isOpenAI(address: string): boolean {
  return isVendors('openai', address)
}

/**
 * Whether an address belongs to the vendor itself, where every request needs a key. Always false for
 * `openai-compatible`, which has no single vendor.
 */
export function isVendors(kind: ProviderKind, address: string): boolean {
  return VENDORS[kind].test(URL.parse(address)?.hostname ?? '')
}

function missingVersion(kind: ProviderKind, path: string): string {
  if (kind === 'bedrock') return ''
  if (kind === 'google') return path === '/' ? '/v1beta' : ''
  const hasVersion = kind === 'anthropic' ? path.endsWith('/v1') : path !== '/'
  return hasVersion ? '' : '/v1'
}

/**
 * Keeps a gateway's path prefix; removes `/openai` and an old deployment path, which Azure's documentation
 * shows.
 */
function azurePath(path: string): string {
  return /\/v1\/?$/.test(path)
    ? path.replace(/\/$/, '')
    : `${path.replace(/(\/openai(\/.*)?)?\/?$/, '')}/openai/v1`
}

const RESPONSES = /\/responses\/*$/
const VENDORS: Record<ProviderKind, RegExp> = {
  anthropic: /^api\.anthropic\.com$/,
  openai: /(^|\.)api\.openai\.com$/,
  google: /^generativelanguage\.googleapis\.com$/,
  bedrock: /(^|\.)bedrock-runtime(-fips)?\..*\bamazonaws\.(com|com\.cn|eu)$/,
  azure: /\.azure\.(com|us|cn)$/,
  'openai-compatible': /(?!)/,
}
