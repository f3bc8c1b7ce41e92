import { computeScopeUnion, type FetchLike } from '@modelcontextprotocol/client'
import { toLoginUrl } from '../../src/edge/credentials/login-name.ts'
import { getAccessToken } from '../../src/edge/oauth/access-token.ts'
import { type LoginHost, logIn } from '../../src/edge/oauth/log-in.ts'
import { readLogin } from '../../src/edge/oauth/login-store.ts'
import { readChallenge } from '../../src/mcp/oauth/discover.ts'
import { memoryVault } from '../support/oauth/memory-vault.ts'

/** A client that may already be registered with its authorization server. */
export interface Registered {
  client_id?: string
  client_secret?: string
}

/**
 * Returns a `fetch` that logs in where the server requires it, as `crabtalk mcp login` does, and sends the same
 * request again with the token that an auth helper would print. A request is challenged once; a second refusal is
 * final. A browser is played that follows redirects, because the authorization server of the suite asks no questions.
 */
export function withLogin(
  fetch: FetchLike,
  url: string,
  { client_id, client_secret }: Registered,
): FetchLike {
  const host: LoginHost = {
    vault: memoryVault(),
    lock: async () => ({ [Symbol.asyncDispose]: async () => {} }),
    hasProxy: false,
    now: Date.now,
  }
  const client =
    client_id === undefined
      ? { client_id: DOCUMENT }
      : { client_id, ...(client_secret !== undefined && { client_secret }) }
  const never = new AbortController().signal
  let token: string | undefined
  const send: FetchLike = (to, init) => {
    const headers = new Headers(init?.headers)
    if (token !== undefined) headers.set('authorization', `Bearer ${token}`)
    return fetch(to, { ...init, headers })
  }
  let running: Promise<void> | undefined
  const logInAgain = async (challenged: Response, used: string | undefined) => {
    if (used !== token) return // another request has logged in meanwhile
    const challenge = readChallenge(challenged)
    const granted = (await readLogin(host.vault, toLoginUrl(url)))?.tokens?.scope
    const scope = challenged.status === 403 ? computeScopeUnion(granted, challenge.scope) : undefined
    await logIn({ url, challenge, scope, client, ask: followRedirects }, host, never)
    token = (await getAccessToken({ url, refused: '' }, host, never)).token
  }
  return async (to, init) => {
    const used = token
    const first = await send(to, init)
    if (!isChallenge(first)) return first
    await first.body?.cancel()
    running ??= logInAgain(first, used).finally(() => {
      running = undefined
    })
    await running
    const second = await send(to, init)
    if (isChallenge(second)) throw new Error(`${second.status} although logged in`)
    return second
  }
}

function isChallenge({ status }: Response): boolean {
  return status === 401 || status === 403
}

/** Opens the address of a login; the last redirect is the answer to the callback. */
async function followRedirects(address: string): Promise<undefined> {
  await (await fetch(address)).body?.cancel()
}

/** The suite treats a client with this URL as one that publishes its own metadata. */
const DOCUMENT = 'https://conformance-test.local/client-metadata.json'
