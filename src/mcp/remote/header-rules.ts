import { CrabError } from '../../core/base/errors.ts'
import type { RemoteTarget, ServerTarget } from '../fingerprint.ts'

/**
 * Returns why the headers of a target cannot be sent, naming the header; undefined when they can. Depends on
 * the target only.
 */
export function validateHeaders({ url, headers, auth, authHelper }: RemoteTarget): string | undefined {
  const names = Object.keys(headers).map((name) => name.toLowerCase())
  const bad = Object.entries(headers)
    .map(([name, value]) => validateHeader(name, value))
    .find((issue) => issue !== undefined)
  if (bad !== undefined) return bad
  const twice = names.find((name, i) => names.indexOf(name) < i)
  if (twice !== undefined) return `the header "${twice}" is set twice`
  if (auth !== undefined && (auth.trim() === '' || !VALUE.test(auth))) {
    return '"auth" is empty or has characters that are not allowed in a header'
  }
  return findClash({ hasOwn: names.includes('authorization'), hasUser: hasUser(url), auth, authHelper })
}

/** Returns why a header cannot be sent; undefined when it can. */
export function validateHeader(name: string, value: string): string | undefined {
  const lower = name.toLowerCase()
  if (!NAME.test(name)) return `${JSON.stringify(name)} is not a valid header name`
  if (RESERVED.has(lower) || RESERVED_FAMILIES.test(lower)) {
    return `the header "${name}" cannot be set: it belongs to the connection`
  }
  if (!VALUE.test(value))
    return `the value of the header "${name}" has characters that are not allowed in a header`
  return undefined
}

interface AuthSources {
  hasOwn: boolean
  hasUser: boolean
  auth: string | undefined
  authHelper: readonly string[] | undefined
}

/** Finds two sources of credentials that would exclude each other. */
function findClash({ hasOwn, hasUser, auth, authHelper }: AuthSources): string | undefined {
  const all = [
    hasOwn && 'the header "Authorization"',
    auth !== undefined && '"auth"',
    authHelper !== undefined && '"auth_helper"',
    hasUser && 'the user in "url"',
  ].filter((one) => one !== false)
  // Allowed: a helper may return another header than Authorization.
  const isFromHelper = authHelper !== undefined && all.length === 2 && hasOwn
  return all.length < 2 || isFromHelper ? undefined : `${all[0]} and ${all[1]} clash: use one of them`
}

function hasUser(url: string): boolean {
  const { username = '', password = '' } = URL.parse(url) ?? {}
  return username !== '' || password !== ''
}

const NAME = /^[\w!#$%&'*+.^`|~-]+$/
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/

/**
 * The headers that HTTP and MCP set themselves; RFC 9110, section 7.6.1 (hop by hop); MCP 2026-07-28,
 * Streamable HTTP.
 */
const RESERVED = new Set([
  'accept',
  'accept-encoding',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'host',
  'http2-settings',
  'keep-alive',
  'last-event-id',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])
const RESERVED_FAMILIES = /^(mcp|sec|proxy)-/

/** Returns why a server can never be started; undefined when it can be tried. */
export function validateTarget(target: ServerTarget): CrabError | undefined {
  const issue = target.transport === 'stdio' ? undefined : validateHeaders(target)
  return issue === undefined
    ? undefined
    : new CrabError('config', issue, { hint: 'change the entry with crabtalk mcp set' })
}
