import type { RemoteTarget } from '../fingerprint.ts'

/** Why nothing may be sent to a server, naming the header; undefined when all is well. Looks at nothing but the target. */
export function validateHeaders({ url, headers, auth, authHelper }: RemoteTarget): string | undefined {
  const names = Object.keys(headers).map((name) => name.toLowerCase())
  const bad = Object.entries(headers)
    .map(([name, value]) => validateHeader(name, value))
    .find((flaw) => flaw !== undefined)
  if (bad !== undefined) return bad
  const twice = names.find((name, i) => names.indexOf(name) < i)
  if (twice !== undefined) return `the header "${twice}" is there twice`
  if (auth !== undefined && (auth.trim() === '' || !VALUE.test(auth))) {
    return '"auth" is empty or holds characters that no header may have'
  }
  return findClash({ hasOwn: names.includes('authorization'), hasUser: hasUser(url), auth, authHelper })
}

/** Why a header cannot be sent; undefined when it can. */
export function validateHeader(name: string, value: string): string | undefined {
  const lower = name.toLowerCase()
  if (!NAME.test(name)) return `${JSON.stringify(name)} is no possible name of a header`
  if (RESERVED.has(lower) || RESERVED_FAMILIES.test(lower)) {
    return `the header "${name}" cannot be set: it belongs to the connection`
  }
  if (!VALUE.test(value)) return `the value of the header "${name}" holds characters that no header may have`
  return undefined
}

interface AuthSources {
  hasOwn: boolean
  hasUser: boolean
  auth: string | undefined
  authHelper: readonly string[] | undefined
}

/** Two that would both say who asks. */
function findClash({ hasOwn, hasUser, auth, authHelper }: AuthSources): string | undefined {
  const all = [
    hasOwn && 'the header "Authorization"',
    auth !== undefined && '"auth"',
    authHelper !== undefined && '"auth_helper"',
    hasUser && 'the user in "url"',
  ].filter((one) => one !== false)
  // A helper may give another header than that one, and is asked for it last.
  const isHelped = authHelper !== undefined && all.length === 2 && hasOwn
  return all.length < 2 || isHelped ? undefined : `${all[0]} and ${all[1]} clash: give one of them`
}

function hasUser(url: string): boolean {
  const { username = '', password = '' } = URL.parse(url) ?? {}
  return username !== '' || password !== ''
}

const NAME = /^[\w!#$%&'*+.^`|~-]+$/
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/

/** What HTTP and MCP say themselves; RFC 9110 §7.6.1 (hop by hop), MCP 2026-07-28, Streamable HTTP. */
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
