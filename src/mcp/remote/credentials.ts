import { abortable } from '../../core/base/abortable.ts'
import { hideSecretsIn } from '../../core/base/secrets/redact.ts'
import type { RemoteTarget } from '../fingerprint.ts'
import { bearer, type HelperCredentials, secretsIn } from './helper-answer.ts'

export interface CredentialsOptions {
  target: Pick<RemoteTarget, 'auth'>
  /** Asks the helper; undefined when there is none. */
  ask: (() => Promise<HelperCredentials>) | undefined
  /** Milliseconds since 1970. */
  now(): number
}

/** What says who asks, with every request: fixed, or what a helper gave, for as long as it holds. */
export class Credentials {
  readonly #options: CredentialsOptions
  #latest: (HelperCredentials & { since: number }) | undefined
  #asking: Promise<void> | undefined
  /** All a helper ever gave here, so that none of it is shown. */
  readonly #secrets = new Set<string>()

  constructor(options: CredentialsOptions) {
    this.#options = options
  }

  /** Whether there is a helper that can be asked again. */
  get canRenew(): boolean {
    return this.#options.ask !== undefined
  }

  /** What requests have at the moment; nothing is asked. */
  get current(): Readonly<Record<string, string>> {
    const { auth } = this.#options.target
    return auth === undefined ? (this.#latest?.headers ?? {}) : { authorization: bearer(auth) }
  }

  /** Of the next request; what has less than a minute left is asked for anew. Fails as the helper does. */
  async headers(signal: AbortSignal): Promise<Readonly<Record<string, string>>> {
    if (this.canRenew && !this.#holds()) await this.renew(this.#latest, signal)
    return this.current
  }

  /** What requests have now, to be handed to renew(). */
  get latest(): unknown {
    return this.#latest
  }

  /** Asks the helper, once for all who found the same to be of no use. Fails as the helper does. */
  async renew(useless: unknown, signal: AbortSignal): Promise<void> {
    if (useless !== this.#latest) return
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined
    })
    await abortable(this.#asking, signal)
  }

  /** All a helper ever gave. */
  get secrets(): readonly string[] {
    return [...this.#secrets]
  }

  /** A text without what a helper gave. */
  hide(text: string): string {
    return hideSecretsIn(text, this.secrets)
  }

  async #ask(): Promise<void> {
    const { ask, now } = this.#options
    const given = await ask!()
    this.#latest = { ...given, since: now() }
    for (const secret of secretsIn(given)) this.#secrets.add(secret)
  }

  /** A minute before its end it does not; what holds for less than two does for half of it. */
  #holds(): boolean {
    if (!this.#latest) return false
    const { expiresAt = Infinity, since } = this.#latest
    return this.#options.now() < Math.max(expiresAt - MARGIN_MS, since + (expiresAt - since) / 2)
  }
}

const MARGIN_MS = 60_000
