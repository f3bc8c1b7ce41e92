import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CrabError } from '../base/errors.ts'
import { isMissingFile, replaceFile, toStorageError } from '../base/files.ts'
import { isObject, parseObject } from '../base/json.ts'
import { sha256 } from '../base/sha256.ts'
import { BUILT_IN_TOKEN, isTokenName } from '../base/token-name.ts'
import { foldName } from '../config/agent-schema.ts'

/** The stored form of a token, without the token itself. */
export interface StoredToken {
  name: string
  /** The SHA-256 of the token, in hexadecimal. */
  hash: string
  /** The only agent that its client may talk to. Absent: any agent. */
  agent?: string
  /** The creation time, ISO 8601. */
  created: string
}

/** The content of the token file. */
export interface StoredTokens {
  tokens: readonly StoredToken[]
  /** The time of each token's last use, by name, ISO 8601; accurate to the minute. */
  lastUse: Readonly<Record<string, string>>
}

type Lock = (resource: string, signal: AbortSignal) => Promise<AsyncDisposable>

/** The location of the file, and the lock that its writers share. */
export interface TokenFile {
  /** The folder of the file. */
  run: string
  lock: Lock
}

const TOKEN_BYTES = 32
/** The prefix by which scanners for leaked secrets recognize tokens. */
const PREFIX = 'crabtalk_'

/** Generates a token of 256 random bits. */
function newToken(): string {
  return PREFIX + Buffer.from(crypto.getRandomValues(new Uint8Array(TOKEN_BYTES))).toString('base64url')
}

/** Returns the hash under which a token is stored. */
export function hashToken(token: string): string {
  return sha256(token).toString('hex')
}

/** Returns the path of the token file in that folder. */
export function tokensPath(run: string): string {
  return join(run, 'tokens.json')
}

/** Reads the tokens of a home; empty when there is no file. Throws `config` for an invalid file. */
export async function readTokens(run: string): Promise<StoredTokens> {
  const path = tokensPath(run)
  try {
    return parseTokens(path, await readFile(path, 'utf8'))
  } catch (reason) {
    if (isMissingFile(reason)) return { tokens: [], lastUse: {} }
    throw toStorageError(`Cannot read ${path}`, reason)
  }
}

/**
 * Adds a token and returns it. Only its hash is stored, so it cannot be shown again. Throws `conflict` for a
 * name in use.
 */
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

/** Removes a token. Throws `missing` when there is none of that name. */
export async function removeToken(
  { run, lock }: TokenFile,
  name: string,
  signal: AbortSignal,
): Promise<void> {
  await changeTokens({ run, lock }, signal, ({ tokens, lastUse }) => {
    const remaining = tokens.filter((one) => one.name !== name)
    if (remaining.length === tokens.length) throw noSuchToken(name)
    const { [name]: _, ...others } = lastUse
    return { tokens: remaining, lastUse: others }
  })
}

/** Records the last use of a token. A token that was removed meanwhile stays removed. */
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

/** Removes the tokens that are restricted to an agent. */
export async function removeAgentTokens(
  { run, lock }: TokenFile,
  agent: string,
  signal: AbortSignal,
): Promise<void> {
  await changeTokens({ run, lock }, signal, (before) => {
    const remaining = before.tokens.filter(
      (one) => one.agent === undefined || foldName(one.agent) !== foldName(agent),
    )
    return remaining.length === before.tokens.length ? before : { ...before, tokens: remaining }
  })
}

/** Updates the tokens of an agent to its new name. */
export async function renameTokenAgent(
  { run, lock }: TokenFile,
  { from, to }: { from: string; to: string },
  signal: AbortSignal,
): Promise<void> {
  await changeTokens({ run, lock }, signal, (before) => {
    const isForAgent = (agent?: string) => agent !== undefined && foldName(agent) === foldName(from)
    if (!before.tokens.some(({ agent }) => isForAgent(agent))) return before
    const tokens = before.tokens.map((one) => (isForAgent(one.agent) ? { ...one, agent: to } : one))
    return { ...before, tokens }
  })
}

/** Returns the error for a token that does not exist. */
export function noSuchToken(name: string): CrabError {
  return new CrabError('missing', `Cannot find the token "${name}": no token has that name`, {
    hint: 'crabtalk token list shows all tokens',
  })
}

function nameInUse(name: string): CrabError {
  if (name === BUILT_IN_TOKEN) {
    const why = 'that is the name of the token in run/tcp.token'
    return new CrabError('conflict', `Cannot create the token "${name}": ${why}`, {
      hint: 'choose another name',
    })
  }
  return new CrabError('conflict', `Cannot create the token "${name}": a token with that name exists`, {
    hint: `choose another name, or revoke that one first: crabtalk token revoke ${name}`,
  })
}

/** Changes the file under its lock. Writes nothing when nothing changes. */
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
    hint: 'move the file away, and create new tokens with crabtalk token new',
  })
}
