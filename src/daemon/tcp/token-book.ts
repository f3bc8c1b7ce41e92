import { basename } from 'node:path'
import { CrabError, toCrabError } from '../../core/base/errors.ts'
import { readStampSync } from '../../core/base/file-stamp.ts'
import type { Log } from '../../core/base/log.ts'
import { BUILT_IN_TOKEN } from '../../core/base/token-name.ts'
import type { ClientToken } from '../../core/policy/trust.ts'
import {
  hashToken,
  readTokens,
  recordUse,
  type StoredToken,
  tokensPath,
} from '../../core/tokens/token-file.ts'
import { isSameToken, readToken, tokenFile } from '../../core/transport/token.ts'
import { watchFolder } from '../components/watch-folder.ts'

interface TokenBookOptions {
  /** The folder of both files. */
  run: string
  lock(resource: string, signal: AbortSignal): Promise<AsyncDisposable>
  log: Log
  now(): number
  /** Whether the token in `tcp.token` counts, too; true when absent. */
  hasOwnToken?: boolean
}

/** A token that counts. */
export interface OpenToken {
  token: ClientToken
  /** Aborted, with a CrabError, once the token counts no more. */
  ended: AbortSignal
}

/** The use of a token is written at most that often. */
const NOTE_MS = 60_000
const NEVER = new AbortController().signal

/**
 * The tokens that count now: those of `tokens.json`, and that of `tcp.token`. Whatever changes these files counts at the
 * next message, and ends clients within a moment.
 */
export class TokenBook implements AsyncDisposable {
  readonly #options: TokenBookOptions
  readonly #watch: Disposable
  #stamp: string | undefined
  #tokens: readonly StoredToken[] = []
  /** The abort controllers of tokens in use, keyed by name, hash and agent. */
  readonly #shown = new Map<string, AbortController>()
  readonly #noted = new Map<string, number>()
  #reading: Promise<void> = Promise.resolve()
  #writing: Promise<void> = Promise.resolve()

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

  /** Finds what a token is for; undefined when it does not count. */
  async find(shown: string): Promise<OpenToken | undefined> {
    await this.refresh()
    const hash = hashToken(shown)
    let found: StoredToken | undefined
    for (const token of this.#tokens) if (isSameToken(token.hash, hash)) found = token // all of them, so that time tells nothing
    if (!found) return undefined
    const key = toTokenKey(found)
    const open = this.#shown.get(key) ?? new AbortController()
    this.#shown.set(key, open)
    const { name, agent } = found
    return { token: { name, ...(agent !== undefined && { agent }) }, ended: open.signal }
  }

  /** Tells whether a token has that name. */
  isTaken(name: string): boolean {
    return name !== BUILT_IN_TOKEN && this.#tokens.some((token) => token.name === name)
  }

  /** Reads the files where they have changed. Never fails: a file that cannot be read has no tokens. */
  async refresh(): Promise<void> {
    if (this.#stamps() === this.#stamp) return
    this.#reading = this.#reading.then(() => this.#read())
    await this.#reading
  }

  /** Notes that a token was used. */
  used(name: string): void {
    const { run, lock, now, log } = this.#options
    const at = now()
    if (at - (this.#noted.get(name) ?? Number.NEGATIVE_INFINITY) < NOTE_MS) return
    this.#noted.set(name, at)
    const use = { name, at: new Date(at).toISOString() }
    this.#writing = this.#writing
      .then(() => recordUse({ run, lock }, use, NEVER))
      .catch((reason: unknown) => log('warn', toCrabError(reason).message))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#watch[Symbol.dispose]()
    await Promise.all([this.#reading, this.#writing])
  }

  async #read(): Promise<void> {
    const stamp = this.#stamps() // before: what changes meanwhile is read again
    if (stamp === this.#stamp) return
    const [stored, own] = await Promise.all([this.#readStored(), this.#readOwn()])
    this.#tokens = [...stored, ...own]
    this.#stamp = stamp
    const keys = new Set(this.#tokens.map(toTokenKey))
    for (const [key, open] of this.#shown) {
      if (keys.has(key)) continue
      this.#shown.delete(key)
      open.abort(this.#tokens.some((token) => key.startsWith(toTokenIdentity(token))) ? renamed() : revoked())
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

  #stamps(): string {
    const { run } = this.#options
    return [tokensPath(run), tokenFile(run)].map(stampOrWhy).join('\n')
  }
}

function stampOrWhy(path: string): string {
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

function renamed(): CrabError {
  return new CrabError('denied', 'Cannot go on: the agent of this connection was renamed', {
    hint: 'connect again with the same token',
  })
}

function revoked(): CrabError {
  return new CrabError('denied', 'Cannot go on: the token of this connection was revoked', {
    hint: 'crabtalk token new makes another one',
  })
}
