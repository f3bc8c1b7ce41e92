import { type CheckContext, type CheckResult, note, problem, warning } from '../../../cli/check.ts'
import { toCrabError } from '../../../core/base/errors.ts'
import { lazy } from '../../../core/base/lazy.ts'
import { isVaultHelper, listTemplateNames, parseVaultWord } from '../../../core/base/secrets/vault-words.ts'
import { DEFAULT_AGENT } from '../../../core/config/default-name.ts'
import { toLoginUrl } from '../../../edge/credentials/login-name.ts'
import { readLogin } from '../../../edge/oauth/login-store.ts'
import { findClearTextCredentials } from '../../../mcp/entry-facts.ts'
import { isLoginHelper } from '../../../mcp/helper-program.ts'
import { readServiceEnv } from '../../../up/services/service-env.ts'
import type { CheckedServer } from './checked-servers.ts'

/** Checks the credentials of one server; findings name them and never show one. */
export type CredentialCheck = (server: CheckedServer) => Promise<CheckResult[]>

/** Opens the check of credentials. The vault is opened when a server needs it, once for all of them. */
export function openCredentialCheck({ host, paths }: Pick<CheckContext, 'host' | 'paths'>): CredentialCheck {
  const opened = lazy(async () => {
    const { openCredentials, openVaultHome } = await import('../../vault/home.ts')
    const home = await openVaultHome(host)
    return { home, resolver: openCredentials(home) }
  })
  return async (server) => {
    const { what, entry } = server
    const { auth = '', auth_helper: authHelper = [], env_helper: envHelper = [], url } = entry
    const shown = findClearTextCredentials(entry)
    const clear = `${what}: its credentials are sent unencrypted to ${shown}, where others can read them`
    const found = [
      ...(shown === undefined ? [] : [warning(clear, 'use an address with https://')]),
      ...judgeToken(`${what}: the token in its entry`, auth, Date.now()),
    ]
    if (entry.disabled === true) return []
    for (const name of [...listNames(envHelper), ...listNames(authHelper)]) {
      found.push(
        ...(await checkCredential(`${what}: ${name}`, name, {
          open: async () => (await opened.get()).resolver,
          isInService: () => readServiceEnv(paths)[name] !== undefined,
        })),
      )
    }
    if (url === undefined || !isLoginHelper(authHelper)) return found
    return [...found, ...(await checkLogin(server, url, async () => (await opened.get()).home))]
  }
}

/** Returns the names of the credentials that a helper of this program needs: those without a default. */
function listNames(helper: readonly string[]): string[] {
  if (!isVaultHelper(helper) || helper[2] === 'key') return []
  const words = helper.slice(3).flatMap((word) => listTemplateNames(parseVaultWord(word).template))
  return words.filter(({ fallback }) => fallback === undefined).map(({ name }) => name)
}

type Resolver = Awaited<ReturnType<typeof import('../../vault/home.ts').openCredentials>>
type VaultHome = Awaited<ReturnType<typeof import('../../vault/home.ts').openVaultHome>>

async function checkCredential(
  what: string,
  name: string,
  { open, isInService }: { open: () => Promise<Resolver>; isInService: () => boolean },
): Promise<CheckResult[]> {
  try {
    const found = await (await open()).find(name)
    if (found) {
      const judged = judgeToken(what, found.value, Date.now())
      if (found.source.kind !== 'environment' || isInService()) return judged
      const why = 'is set in this shell only: a daemon that runs as a service would not have it'
      return [...judged, note(`${what} ${why}`, `crabtalk vault set ${name}`)]
    }
    return [
      problem(
        `${what} is not set: neither the vault nor .env nor the environment has it`,
        `crabtalk vault set ${name}`,
      ),
    ]
  } catch (reason) {
    const { message, hint } = toCrabError(reason)
    return [problem(`${what} cannot be read: ${message}`, hint)]
  }
}

async function checkLogin(
  { what, entry, agent }: CheckedServer,
  url: string,
  open: () => Promise<VaultHome>,
): Promise<CheckResult[]> {
  const { name: agentName } = agent
  const again = `crabtalk mcp login ${entry.name}${agentName === DEFAULT_AGENT ? '' : ` -a ${agentName}`}`
  try {
    const { openVault } = await import('../../../edge/vault/vault.ts')
    const vault = await openVault(await open())
    const login = vault && (await readLogin(vault, toLoginUrl(url)))
    if (!login) return [problem(`${what}: you are not logged in`, again)]
    const { tokens, grant } = login
    if (!tokens) return [problem(`${what}: its login has ended, because it could not be refreshed`, again)]
    const { expiresAt, refresh_token: refreshToken } = tokens
    if (expiresAt === undefined || grant === 'client' || refreshToken !== undefined) return []
    return judgeExpiry(`${what}: its login, which cannot be refreshed,`, expiresAt, {
      now: Date.now(),
      again,
    })
  } catch (reason) {
    const { message, hint } = toCrabError(reason)
    return [problem(`${what}: its login cannot be read: ${message}`, hint)]
  }
}

/** Reports a JSON Web Token (RFC 7519) that has expired or soon will; the expiry of other tokens is not known. */
export function judgeToken(what: string, token: string, now: number): CheckResult[] {
  const [, payload = ''] = /^(?:Bearer +)?eyJ[\w-]+\.([\w-]+)\.[\w-]*$/i.exec(token.trim()) ?? []
  const seconds = readExpiry(payload)
  if (seconds === undefined) return []
  return judgeExpiry(what, seconds * 1000, { now, again: 'get a new token, and store it in its place' })
}

function readExpiry(payload: string): number | undefined {
  try {
    const { exp }: { exp?: unknown } = JSON.parse(Buffer.from(payload, 'base64url').toString())
    return typeof exp === 'number' && Number.isFinite(exp) && exp < MAX_SECONDS ? exp : undefined
  } catch {
    return undefined // it only looks like a token with an expiry
  }
}

function judgeExpiry(
  what: string,
  expiresAt: number,
  { now, again }: { now: number; again: string },
): CheckResult[] {
  const when = new Date(expiresAt).toISOString().slice(0, 16).replace('T', ' ')
  if (expiresAt <= now) return [problem(`${what} expired on ${when} UTC`, again)]
  return expiresAt - now < SOON_MS ? [warning(`${what} expires on ${when} UTC`, again)] : []
}

const SOON_MS = 14 * 86_400_000
/** The seconds since 1970 that a date can be made of. */
const MAX_SECONDS = 8.64e12
