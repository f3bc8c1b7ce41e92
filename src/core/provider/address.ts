import { CrabError } from '../base/errors.ts'
import { normaliseBaseUrl } from '../config/config.ts'
import type { ProviderKind } from '../config/config-schema.ts'

/** What is spoken with a server: whose requests and whose stream. */
export type Wire = 'chat' | 'responses' | 'messages' | 'gemini' | 'converse'

/**
 * The wire of a provider at an address as a person wrote it.
 *
 * Kind `openai` speaks Responses with OpenAI itself and chat completions with everybody else, who may know nothing
 * else; an address that ends in `/responses` says that its server knows them too. Kind `google` speaks chat completions
 * with an address that ends in `/openai`, which is Google's own for that.
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

/** The address as the SDK wants it (RFC 0027): no slash or endpoint at its end, and the version people leave out. */
export function toBaseUrl(address: string, kind: ProviderKind, where: string): string {
  const url = URL.parse(normaliseBaseUrl(address.trim()).replace(RESPONSES, ''))
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new CrabError('config', `Cannot use base_url (${where}): it is no http address`, {
      hint: 'http://localhost:4000/v1, say',
    })
  }
  if (kind === 'azure') return `${url.origin}${azurePath(url.pathname)}`
  return `${url.href.replace(/\/$/, '')}${missingVersion(kind, url.pathname)}`
}

/** Whether an address is at OpenAI's own host, or one of its regions': `eu.api.openai.com`. */
export function isOpenAI(address: string): boolean {
  return isVendors('openai', address)
}

/** Whether an address is a vendor's own, where nobody gets in without a key; of servers that many run it never is. */
export function isVendors(kind: ProviderKind, address: string): boolean {
  return VENDORS[kind].test(URL.parse(address)?.hostname ?? '')
}

function missingVersion(kind: ProviderKind, path: string): string {
  if (kind === 'bedrock') return ''
  if (kind === 'google') return path === '/' ? '/v1beta' : ''
  const hasVersion = kind === 'anthropic' ? path.endsWith('/v1') : path !== '/'
  return hasVersion ? '' : '/v1'
}

/** Behind a gateway there may be more in front; `/openai` and a deployment's old path are what Azure's pages show. */
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
