import { basename } from 'node:path'
import { CrabError, toCrabError } from '../../core/base/errors.ts'
import { readStampSync } from '../../core/base/file-stamp.ts'
import type { Log } from '../../core/base/log.ts'
import { Serial } from '../../core/base/serial.ts'
import { BUILT_IN_TOKEN } from '../../core/base/token-name.ts'
import { watchFolder } from '../../core/base/watch-folder.ts'
import type { ClientToken } from '../../core/policy/trust.ts'
import {
  hashToken,
  readTokens,
  recordUse,
  type StoredToken,
  tokensPath,
} from '../../core/tokens/token-file.ts'
import { isSameToken, readToken, tokenFile } from '../../core/transport/token.ts'

interface TokenBookOptions {
  /** The folder of both files. */
  run: string
  lock(resource: string, signal: AbortSignal): Promise<AsyncDisposable>
  log: Log
  now(): number
  /** Whether the token in `tcp.token` is valid, too; true by default. */
  hasOwnToken?: boolean
}

/** A valid token. */
export interface OpenToken {
  token: ClientToken
  /** Aborted, with a CrabError, once the token is no longer valid. */
  ended: AbortSignal
}

/** The minimum time in milliseconds between two records of a token's use. */
const RECORD_INTERVAL_MS = 60_000
const NEVER = new AbortController().signal

/**
 * The tokens that are currently valid: those of `tokens.json`, and that of `tcp.token`. A change of these
 * files applies to the next message, and disconnects the affected clients within a moment.
 */
export class TokenBook implements AsyncDisposable {
  readonly #options: TokenBookOptions
  readonly #watch: Disposable
  #stamp: string | undefined
  #tokens: readonly StoredToken[] = []
  /** The abort controllers of tokens in use, keyed by name, hash and agent. */
  readonly #inUse = new Map<string, AbortController>()
  readonly #recordedAt = new Map<string, number>()
  readonly #reads = new Serial()
  readonly #writes = new Serial()

  constructor(options: TokenBookOptions) {
    this.#options = options
    const { run } = options
    const files = [tokensPath(run), tokenFile(run)].map((path) => basename(path))
    this.#watch = watchFolder({
      folder: run,
      isWatched: (file) => files.includes(file),
      look: () => void this.refresh(),
    })
  }

  /** Finds a valid token; undefined when there is none. */
  async find(shown: string): Promise<OpenToken | undefined> {
    await this.refresh()
    const hash = hashToken(shown)
    let found: StoredToken | undefined
    // compares with all of them, so that timing reveals nothing
    for (const token of this.#tokens) if (isSameToken(token.hash, hash)) found = token
    if (!found) return undefined
    const key = toTokenKey(found)
    const open = this.#inUse.get(key) ?? new AbortController()
    this.#inUse.set(key, open)
    const { name, agent } = found
    return { token: { name, ...(agent !== undefined && { agent }) }, ended: open.signal }
  }

  /** Returns whether a token has that name. */
  isTaken(name: string): boolean {
    return name !== BUILT_IN_TOKEN && this.#tokens.some((token) => token.name === name)
  }

  /** Re-reads the files if they have changed. Never fails: a file that cannot be read contains no tokens. */
  async refresh(): Promise<void> {
    if (this.#readStamps() === this.#stamp) return
    await this.#reads.run(() => this.#read())
  }

  /** Records the use of a token. */
  used(name: string): void {
    const { run, lock, now, log } = this.#options
    const at = now()
    if (at - (this.#recordedAt.get(name) ?? Number.NEGATIVE_INFINITY) < RECORD_INTERVAL_MS) return
    this.#recordedAt.set(name, at)
    const use = { name, at: new Date(at).toISOString() }
    this.#writes
      .run(() => recordUse({ run, lock }, use, NEVER))
      .catch((reason: unknown) => log('warn', toCrabError(reason).message))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#watch[Symbol.dispose]()
    await Promise.all([this.#reads.settled(), this.#writes.settled()])
  }

  async #read(): Promise<void> {
    const stamp = this.#readStamps() // before reading: a change during the read causes another one
    if (stamp === this.#stamp) return
    const [stored, own] = await Promise.all([this.#readStored(), this.#readOwn()])
    this.#tokens = [...stored, ...own]
    this.#stamp = stamp
    const keys = new Set(this.#tokens.map(toTokenKey))
    for (const [key, open] of this.#inUse) {
      if (keys.has(key)) continue
      this.#inUse.delete(key)
      open.abort(
        this.#tokens.some((token) => key.startsWith(toTokenIdentity(token)))
          ? renamedError()
          : revokedError(),
      )
    }
  }

  async #readStored(): Promise<readonly StoredToken[]> {
    try {
      return (await readTokens(this.#options.run)).tokens
    } catch (reason) {
      const { message, hint } = toCrabError(reason)
      this.#options.log('error', message, { hint })
      return []
    }
  }

  async #readOwn(): Promise<readonly StoredToken[]> {
    if (this.#options.hasOwnToken === false) return []
    try {
      const hash = hashToken(await readToken(this.#options.run))
      return [{ name: BUILT_IN_TOKEN, hash, created: '' }]
    } catch (reason) {
      this.#options.log('warn', toCrabError(reason).message)
      return []
    }
  }

  #readStamps(): string {
    const { run } = this.#options
    return [tokensPath(run), tokenFile(run)].map(readStampOrError).join('\n')
  }
}

function readStampOrError(path: string): string {
  try {
    return readStampSync(path) ?? 'none'
  } catch (reason) {
    return String(reason)
  }
}

function toTokenKey(token: StoredToken): string {
  return toTokenIdentity(token) + (token.agent ?? '')
}

function toTokenIdentity({ name, hash }: StoredToken): string {
  return `${name} ${hash} `
}

function renamedError(): CrabError {
  return new CrabError('denied', 'Cannot continue: the agent of this connection was renamed', {
    hint: 'connect again with the same token',
  })
}

function revokedError(): CrabError {
  return new CrabError('denied', 'Cannot continue: the token of this connection was revoked', {
    hint: 'crabtalk token new creates another one',
  })
}
