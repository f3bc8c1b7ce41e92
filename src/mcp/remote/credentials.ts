import { abortable } from '../../core/base/abortable.ts'
import { hideSecretsIn } from '../../core/base/secrets/redact.ts'
import type { RemoteTarget } from '../fingerprint.ts'
import { bearer, findToken, type HelperCredentials, listHelperSecrets } from './helper-answer.ts'
import { hashBearerToken } from './token-hash.ts'

export interface CredentialsOptions {
  target: Pick<RemoteTarget, 'auth'>
  /** Runs the auth helper with the hash of the token that was refused, if one was; undefined when there is none. */
  ask: ((refused: string | undefined) => Promise<HelperCredentials>) | undefined
  /** Milliseconds since 1970. */
  now(): number
}

/** The credentials sent with every request: a fixed token, or what a helper returned, until it expires. */
export class Credentials {
  readonly #options: CredentialsOptions
  #latest: (HelperCredentials & { since: number }) | undefined
  #asking: Promise<void> | undefined
  /** Every value a helper returned, so that none of them is shown. */
  readonly #secrets = new Set<string>()

  constructor(options: CredentialsOptions) {
    this.#options = options
  }

  /** Whether there is a helper that can be run again. */
  get canRenew(): boolean {
    return this.#options.ask !== undefined
  }

  /** The current headers, without running the helper. */
  get current(): Readonly<Record<string, string>> {
    const { auth } = this.#options.target
    return auth === undefined ? (this.#latest?.headers ?? {}) : { authorization: bearer(auth) }
  }

  /**
   * Returns the headers for the next request, renewing those that expire within a minute. Throws as the
   * helper does.
   */
  async headers(signal: AbortSignal): Promise<Readonly<Record<string, string>>> {
    if (this.canRenew && !this.#holds()) await this.renew(this.#latest, { isRefused: false }, signal)
    return this.current
  }

  /** The current credentials, as an opaque value for renew(). */
  get latest(): unknown {
    return this.#latest
  }

  /** Runs the helper, once for all callers with the same credentials, refused or expired. Throws as the helper does. */
  async renew(used: unknown, { isRefused }: { isRefused: boolean }, signal: AbortSignal): Promise<void> {
    if (used !== this.#latest) return
    this.#asking ??= this.#ask(isRefused).finally(() => {
      this.#asking = undefined
    })
    await abortable(this.#asking, signal)
  }

  /** Every value a helper returned. */
  get secrets(): readonly string[] {
    return [...this.#secrets]
  }

  /** Removes the helper's values from a text. */
  hide(text: string): string {
    return hideSecretsIn(text, this.secrets)
  }

  async #ask(isRefused: boolean): Promise<void> {
    const { ask, now } = this.#options
    const token = isRefused && this.#latest ? findToken(this.#latest) : undefined
    const answer = await ask!(token === undefined ? undefined : hashBearerToken(token))
    this.#latest = { ...answer, since: now() }
    for (const secret of listHelperSecrets(answer)) this.#secrets.add(secret)
  }

  /**
   * Whether the credentials are still valid: until a minute before they expire, or for half their lifetime if
   * that is under two minutes.
   */
  #holds(): boolean {
    if (!this.#latest) return false
    const { expiresAt = Infinity, since } = this.#latest
    return this.#options.now() < Math.max(expiresAt - MARGIN_MS, since + (expiresAt - since) / 2)
  }
}

const MARGIN_MS = 60_000
