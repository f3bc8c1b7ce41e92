import { lookup as resolve } from 'node:dns/promises'
import type { FetchLike } from '@modelcontextprotocol/client'
import { toCancelledError } from '../../core/base/abortable.ts'
import { withDeadline } from '../../core/base/deadline.ts'
import { CrabError } from '../../core/base/errors.ts'
import { toNetworkFailure } from '../../core/base/http/network-failure.ts'
import { sendRequest } from '../../core/base/http/send-request.ts'
import { VERSION } from '../../core/base/version.ts'
import { describeSpecialAddress, isLoopbackHost, readLiteralAddress } from './special-address.ts'

/** The options of `openOAuthFetch()`. */
export interface OAuthFetchOptions {
  /**
   * The addresses that the user wrote: that of the server, and of an authorization server. Only their hosts may be
   * in a private network; when one of them is this machine, all others may be this machine too.
   */
  trusted: readonly string[]
  /** Whether requests may go through a proxy, which then resolves the names of hosts. */
  hasProxy: boolean
  /** The time limit of a request with its answer, in milliseconds; by default 10 s. */
  timeoutMs?: number | undefined
  /** Returns the addresses of a host; by default those of the system's resolver. */
  resolveHost?: ((hostname: string) => Promise<readonly string[]>) | undefined
}

/** Requests to authorization servers, within the rules for addresses. */
export interface OAuthFetch {
  fetch: FetchLike
  /** Throws `denied` when nothing may be requested from an address, in lower case and with the reason. */
  check(address: string | URL): Promise<void>
}

/**
 * Opens requests to servers whose addresses come from other servers: over https, or http on this machine; to public
 * hosts only, by the addresses that were checked; without redirects to another origin; answers of at most 1 MiB.
 *
 * Throws `denied` for what these rules refuse, `unavailable`, `timeout`, or as the signal does; messages are in lower
 * case and hold neither query nor body.
 */
export function openOAuthFetch(options: OAuthFetchOptions, signal: AbortSignal): OAuthFetch {
  const rules = newAddressRules(options)
  const ms = options.timeoutMs ?? TIMEOUT_MS
  return {
    check: async (address) => void (await rules(toUrl(address))),
    async fetch(input, init = {}) {
      const url = toUrl(input)
      const where = showAddress(url)
      const toError = () => new CrabError('timeout', `${where} did not answer within ${ms / 1000} s`)
      return await withDeadline(
        async (soon) => {
          const addresses = await rules(url)
          const response = await exchange(url, init, { addresses, signal: soon })
          refuseForeignRedirect(url, response)
          return response
        },
        { ms, toError },
        signal,
      )
    },
  }
}

/** Shows an address without user, query and fragment, which may hold secrets. */
export function showAddress({ origin, pathname }: URL): string {
  return `${origin}${pathname === '/' ? '' : pathname}`
}

/** Returns a function that checks an address and returns those of its host; undefined for any of the system. */
function newAddressRules({ trusted, hasProxy, resolveHost = resolveAll }: OAuthFetchOptions) {
  const hosts = new Set(trusted.map((one) => new URL(one).hostname))
  const isLocal = [...hosts].some(isLoopbackHost)
  return async (url: URL): Promise<readonly string[] | undefined> => {
    const { protocol, hostname, username, password } = url
    const where = showAddress(url)
    const isHere = isLoopbackHost(hostname)
    if (protocol !== 'https:' && !(protocol === 'http:' && isHere && isLocal))
      throw denied(`${where} is not an https address`)
    if (username !== '' || password !== '') throw denied(`${where} has a user name in its address`)
    if (hosts.has(hostname)) return undefined
    if (isHere && !isLocal) throw denied(`${where} is at a loopback address`)
    if (isHere) return undefined
    const addresses = await resolveAllowed(url)
    const special = (addresses ?? []).map(describeSpecialAddress).find((name) => name !== undefined)
    if (special !== undefined) throw denied(`${where} is at a ${special} address`)
    return hasProxy ? undefined : addresses // the proxy would be looked up by them
  }

  async function resolveAllowed(url: URL): Promise<readonly string[] | undefined> {
    const { hostname } = url
    const literal = readLiteralAddress(hostname)
    if (literal !== undefined) return [literal]
    try {
      return await resolveHost(hostname)
    } catch (reason) {
      if (hasProxy) return undefined
      const why = toNetworkFailure(reason, url)?.reason ?? 'the host name could not be looked up'
      throw new CrabError('unavailable', `${hostname} cannot be reached: ${why}`, { cause: reason })
    }
  }
}

interface Exchange {
  /** The only addresses to connect to; undefined for those of the system. */
  addresses: readonly string[] | undefined
  signal: AbortSignal
}

async function exchange(
  url: URL,
  { method, headers, body }: RequestInit,
  { addresses, signal }: Exchange,
): Promise<Response> {
  const own = { 'user-agent': `crabtalk/${VERSION}`, 'accept-encoding': 'identity' }
  try {
    const answer = await sendRequest({
      url,
      method,
      headers: { ...Object.fromEntries(new Headers(headers)), ...own },
      body: body === undefined || body === null ? undefined : String(body),
      signal,
      isRepeatable: (method ?? 'GET') === 'GET',
      ...(addresses && { lookup: pinnedLookup(addresses) }),
    })
    const chunks: Buffer[] = []
    let size = 0
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      size += chunk.length
      if (size > MAX_BYTES) throw denied(`${showAddress(url)} sent more than ${MAX_BYTES / 2 ** 20} MiB`)
      chunks.push(chunk)
    }
    return toResponse(answer.statusCode ?? 0, answer.headersDistinct, Buffer.concat(chunks))
  } catch (reason) {
    if (signal.aborted) throw toCancelledError(signal)
    const failure = toNetworkFailure(reason, url)
    if (!failure) throw reason
    throw new CrabError('unavailable', `${showAddress(url)} cannot be reached: ${failure.reason}`, {
      cause: reason,
    })
  }
}

function toResponse(status: number, distinct: NodeJS.Dict<string[]>, body: Buffer): Response {
  if (status < 200 || status > 599) throw new CrabError('failed', `it answered HTTP ${status}`)
  const headers = new Headers()
  for (const [name, values] of Object.entries(distinct))
    for (const value of values ?? []) headers.append(name, value)
  const hasBody = ![204, 205, 304].includes(status)
  return new Response(hasBody ? body.toString() : null, { status, headers })
}

function refuseForeignRedirect(url: URL, { status, headers }: Response): void {
  const location = REDIRECTS.has(status) ? headers.get('location') : null
  if (location === null) return
  const target = URL.parse(location, url)
  if (target?.origin === url.origin) return
  const to = target && /^https?:$/.test(target.protocol) ? target.origin : 'another place'
  throw denied(`${showAddress(url)} redirects to ${to}`)
}

/** Resolves any host to addresses that were checked, so that a second answer of the resolver changes nothing. */
function pinnedLookup(
  addresses: readonly string[],
): NonNullable<Parameters<typeof sendRequest>[0]['lookup']> {
  const all = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
  return (_host, options, done) => {
    if (options.all) return done(null, all)
    done(null, all[0]!.address, all[0]!.family)
  }
}

async function resolveAll(hostname: string): Promise<readonly string[]> {
  return (await resolve(hostname, { all: true })).map(({ address }) => address)
}

function toUrl(address: string | URL): URL {
  const url = URL.parse(String(address))
  if (!url) throw denied('an address of the authorization server is not valid')
  return url
}

function denied(why: string): CrabError {
  return new CrabError('denied', why)
}

const TIMEOUT_MS = 10_000
const MAX_BYTES = 2 ** 20
const REDIRECTS = new Set([301, 302, 303, 307, 308])
