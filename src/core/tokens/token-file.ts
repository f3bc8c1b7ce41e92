import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CrabError } from '../base/errors.ts'
import { isMissingFile, replaceFile, toStorageError } from '../base/files.ts'
import { isObject, parseObject } from '../base/json.ts'
import { sha256 } from '../base/sha256.ts'
import { BUILT_IN_TOKEN, isTokenName } from '../base/token-name.ts'
import { foldName } from '../config/agent-schema.ts'

/** A token as it is stored; the token itself is not. */
export interface StoredToken {
  name: string
  /** The SHA-256 of the token, in hexadecimal. */
  hash: string
  /** The only agent that its client may talk to; absent: any. */
  agent?: string
  /** ISO 8601. */
  created: string
}

/** The content of the file. */
export interface StoredTokens {
  tokens: readonly StoredToken[]
  /** When each token was last shown, by its name, ISO 8601; to the minute. */
  lastUse: Readonly<Record<string, string>>
}

type Lock = (resource: string, signal: AbortSignal) => Promise<AsyncDisposable>

/** The place of the file, and the lock that its writers share. */
export interface TokenFile {
  /** The folder of the file. */
  run: string
  lock: Lock
}

const TOKEN_BYTES = 32
/** Scanners for leaked secrets recognise tokens by it. */
const PREFIX = 'crabtalk_'

/** Makes a token of 256 random bits. */
export function newToken(): string {
  return PREFIX + Buffer.from(crypto.getRandomValues(new Uint8Array(TOKEN_BYTES))).toString('base64url')
}

/** Hashes a token as it is stored. */
export function hashToken(token: string): string {
  return sha256(token).toString('hex')
}

/** The path of the file in that folder. */
export function tokensPath(run: string): string {
  return join(run, 'tokens.json')
}

/** Reads the tokens of a home; none where there is no file. Fails with `config` for a file that cannot be used. */
export async function readTokens(run: string): Promise<StoredTokens> {
  const path = tokensPath(run)
  try {
    return parseTokens(path, await readFile(path, 'utf8'))
  } catch (reason) {
    if (isMissingFile(reason)) return { tokens: [], lastUse: {} }
    throw toStorageError(`Cannot read ${path}`, reason)
  }
}

/** Adds a token and gives it: this is the only time that anything knows it. Fails with `conflict` for a name in use. */
export async function addToken(
  { run, lock }: TokenFile,
  { name, agent, created }: Pick<StoredToken, 'name' | 'agent' | 'created'>,
  signal: AbortSignal,
): Promise<string> {
  const token = newToken()
  await changeTokens({ run, lock }, signal, ({ tokens, lastUse }) => {
    if (name === BUILT_IN_TOKEN || tokens.some((one) => one.name === name)) throw nameInUse(name)
    const added = { name, hash: hashToken(token), ...(agent !== undefined && { agent }), created }
    return { tokens: [...tokens, added], lastUse }
  })
  return token
}

/** Removes a token. Fails with `missing` where none has that name. */
export async function removeToken(
  { run, lock }: TokenFile,
  name: string,
  signal: AbortSignal,
): Promise<void> {
  await changeTokens({ run, lock }, signal, ({ tokens, lastUse }) => {
    const kept = tokens.filter((one) => one.name !== name)
    if (kept.length === tokens.length) throw noSuchToken(name)
    const { [name]: _, ...others } = lastUse
    return { tokens: kept, lastUse: others }
  })
}

/** Notes when a token was used; one that was removed meanwhile stays removed. */
export async function recordUse(
  { run, lock }: TokenFile,
  { name, at }: { name: string; at: string },
  signal: AbortSignal,
): Promise<void> {
  await changeTokens({ run, lock }, signal, (before) => {
    const isThere = name === BUILT_IN_TOKEN || before.tokens.some((one) => one.name === name)
    return isThere ? { ...before, lastUse: { ...before.lastUse, [name]: at } } : before
  })
}

/** Removes the tokens that are for one agent only. */
export async function removeAgentTokens(
  { run, lock }: TokenFile,
  agent: string,
  signal: AbortSignal,
): Promise<void> {
  await changeTokens({ run, lock }, signal, (before) => {
    const kept = before.tokens.filter(
      (one) => one.agent === undefined || foldName(one.agent) !== foldName(agent),
    )
    return kept.length === before.tokens.length ? before : { ...before, tokens: kept }
  })
}

/** Lets tokens follow an agent to its new name. */
export async function renameTokenAgent(
  { run, lock }: TokenFile,
  { from, to }: { from: string; to: string },
  signal: AbortSignal,
): Promise<void> {
  await changeTokens({ run, lock }, signal, (before) => {
    const isOf = (agent?: string) => agent !== undefined && foldName(agent) === foldName(from)
    if (!before.tokens.some(({ agent }) => isOf(agent))) return before
    const tokens = before.tokens.map((one) => (isOf(one.agent) ? { ...one, agent: to } : one))
    return { ...before, tokens }
  })
}

/** The error for a token that does not exist. */
export function noSuchToken(name: string): CrabError {
  return new CrabError('missing', `Cannot find the token "${name}": there is no token of that name`, {
    hint: 'crabtalk token list',
  })
}

function nameInUse(name: string): CrabError {
  if (name === BUILT_IN_TOKEN) {
    const why = 'that is the name of the token in run/tcp.token'
    return new CrabError('conflict', `Cannot make the token "${name}": ${why}`, {
      hint: 'choose another name',
    })
  }
  return new CrabError('conflict', `Cannot make the token "${name}": a token with that name exists`, {
    hint: `choose another name, or revoke that one first: crabtalk token revoke ${name}`,
  })
}

/** Changes the file while no other process does; nothing is written where nothing changes. */
async function changeTokens(
  { run, lock }: TokenFile,
  signal: AbortSignal,
  change: (before: StoredTokens) => StoredTokens,
): Promise<void> {
  const path = tokensPath(run)
  await using _ = await lock(`file:${path}`, signal)
  const before = await readTokens(run)
  const { tokens, lastUse } = change(before)
  if (tokens === before.tokens && lastUse === before.lastUse) return
  await replaceFile(path, `${JSON.stringify({ tokens, last_use: lastUse }, undefined, 2)}\n`)
}

function parseTokens(path: string, text: string): StoredTokens {
  const file = parseObject(text)
  const tokens = file?.['tokens']
  if (!Array.isArray(tokens)) throw broken(path, 'it is not a JSON object with "tokens"')
  const lastUse = isObject(file?.['last_use']) ? file['last_use'] : {}
  return {
    tokens: tokens.map((entry, index) => parseToken(path, entry, index)),
    lastUse: Object.fromEntries(
      Object.entries(lastUse).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
    ),
  }
}

function parseToken(path: string, entry: unknown, index: number): StoredToken {
  const { name, hash, agent, created } = isObject(entry) ? entry : {}
  const isRight =
    typeof name === 'string' &&
    isTokenName(name) &&
    typeof hash === 'string' &&
    /^[0-9a-f]{64}$/.test(hash) &&
    typeof created === 'string' &&
    (agent === undefined || typeof agent === 'string')
  if (!isRight) throw broken(path, `its entry ${index + 1} is not a token`)
  return { name, hash, ...(agent !== undefined && { agent }), created }
}

function broken(path: string, why: string): CrabError {
  return new CrabError('config', `Cannot use ${path}: ${why}`, {
    hint: 'move the file away, and make new tokens with crabtalk token new',
  })
}
