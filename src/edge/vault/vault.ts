import { randomBytes } from 'node:crypto'
import { open } from 'node:fs/promises'
import { isDeepStrictEqual } from 'node:util'
import { abortable } from '../../core/base/abortable.ts'
import { CrabError } from '../../core/base/errors.ts'
import { readStamp } from '../../core/base/file-stamp.ts'
import { createFile, replaceFile } from '../../core/base/files.ts'
import { newUlid } from '../../core/base/ids.ts'
import { readTextFile } from '../../core/config/load-config.ts'
import { deriveKey, newKeyDerivation } from './key-derivation.ts'
import { findKey, findUserKey, KEY_VARIABLE, removeKey, type StoredKey, storeNewKey } from './key-sources.ts'
import type { KeySource, Vault, VaultHome, VaultItem } from './types.ts'
import {
  damaged,
  fitsVault,
  formatVault,
  parseVault,
  type SealedVault,
  sealVault,
  unsealVault,
  type VaultContent,
  type VaultHeader,
} from './vault-file.ts'

/** Opens the vault of a home; undefined when there is none. The key is read when a value is needed first. */
export async function openVault(home: VaultHome): Promise<Vault | undefined> {
  const sealed = await readSealed(home)
  return sealed && toVault(home)
}

/**
 * Opens the vault of a home, or creates one with the best key source of this machine: the environment, the helper,
 * the keychain, or a key file. `created` is set for a new vault.
 */
export async function openOrCreateVault(
  home: VaultHome,
  signal: AbortSignal,
): Promise<{ vault: Vault; created?: { keySource: KeySource } }> {
  const vault = await openVault(home)
  if (vault) return { vault }
  const keySource = await createVault(home, undefined, signal)
  return { vault: toVault(home), ...(keySource && { created: { keySource } }) }
}

/**
 * Creates an empty vault whose key comes from the given source, or from the best one. Returns the source;
 * undefined when there is a vault already. Throws `credentials` when the environment has no such key.
 */
export async function createVault(
  home: VaultHome,
  source: KeySource | undefined,
  signal: AbortSignal,
): Promise<KeySource | undefined> {
  await using _ = await home.lock(lockName(home), signal)
  if (await readSealed(home)) return undefined
  const id = randomBytes(16).toString('hex')
  const key = await chooseKey(home, { vaultId: id, source }, signal)
  const sealed = await sealNew({ id, key }, new Map())
  if (await createFile(home.paths.vault, formatVault(sealed))) return key.source
  throw new CrabError('storage', `Cannot create ${home.paths.vault}: something of that name is in the way`, {
    hint: 'move it away',
  })
}

/** Reads the source of the key that a vault needs; undefined when there is no vault. */
export async function readKeySource(home: VaultHome): Promise<KeySource | undefined> {
  return (await readSealed(home))?.header.key.source
}

/** The facts about a vault, and whether it opens. */
export interface VaultStatus {
  id: string
  keySource: KeySource
  /** The id of its key: the name of its key file, or of its entry in the keychain. */
  keyId: string
  /** The source of the key that opened it now, which may be another one; undefined when it could not be opened. */
  openedWith: KeySource | undefined
  /** The reason it could not be opened. */
  problem: CrabError | undefined
  count: number | undefined
}

/** Reads the facts about a vault; undefined when there is none. */
export async function readVaultStatus(
  home: VaultHome,
  signal: AbortSignal,
): Promise<VaultStatus | undefined> {
  const sealed = await readSealed(home)
  if (!sealed) return undefined
  const { id, key } = sealed.header
  const known = { id, keySource: key.source, keyId: key.id }
  try {
    const { content, source } = await unlock(home, signal)
    return { ...known, openedWith: source, problem: undefined, count: content.size }
  } catch (reason) {
    if (!(reason instanceof CrabError) || reason.kind === 'cancelled') throw reason
    return { ...known, openedWith: undefined, problem: reason, count: undefined }
  }
}

/** The key that a vault gets: a new one in the keychain or a file, or one that the user keeps elsewhere. */
export type NewKey = { source: 'keychain' | 'file' } | { source: 'environment' | 'helper'; secret: string }

/**
 * Encrypts a vault with a new key. Killed at any moment, it leaves a vault that its old key opens or one that the
 * new key opens: a new key is stored first under its own id, then the file is replaced, then the old key is
 * removed.
 */
export async function rotateVaultKey(home: VaultHome, next: NewKey, signal: AbortSignal): Promise<void> {
  await using _ = await home.lock(lockName(home), signal)
  const { header, content } = await unlock(home, signal)
  const { id, key: old } = header
  const key = 'secret' in next ? { ...next, id: newUlid() } : await storeNewKey(home, id, next.source, signal)
  await replaceFile(home.paths.vault, formatVault(await sealNew({ id, key }, content)))
  await announceChange(home)
  await removeKey(home, id, old, signal)
}

function toVault(home: VaultHome): Vault {
  const never = new AbortController().signal
  const cache: VaultCache = {}
  const read = async () => (await unlock(home, never, cache)).content
  const change = async (signal: AbortSignal, edit: (items: Map<string, Item>) => void) => {
    await using _ = await home.lock(lockName(home), signal)
    const { header, aesKey, content } = await unlock(home, signal, cache)
    const items = new Map(content)
    edit(items)
    await replaceFile(home.paths.vault, formatVault(sealVault(header, aesKey, items)))
    await announceChange(home)
  }
  const store = async (values: Readonly<Record<string, string>>, signal: AbortSignal, replaces: boolean) => {
    for (const name of Object.keys(values)) checkName(name)
    const updated = new Date(home.now()).toISOString()
    const added: string[] = []
    await change(signal, (items) => {
      for (const [name, value] of Object.entries(values)) {
        const before = items.get(name)
        if (!before) added.push(name)
        else if (!replaces && before.value !== value) throw isTaken(name)
        items.set(name, { value, updated })
      }
    })
    return added
  }
  return {
    async get(name) {
      return (await read()).get(name)?.value
    },
    async set(values, signal) {
      await store(values, signal, true)
    },
    add: (values, signal) => store(values, signal, false),
    async remove(name, signal) {
      let isRemoved = false
      await change(signal, (items) => {
        isRemoved = items.delete(name)
      })
      return isRemoved
    },
    async list() {
      const items = [...(await read())].map(([name, { updated }]): VaultItem => ({ name, updated }))
      return items.toSorted((a, b) => (a.name < b.name ? -1 : 1))
    },
  }
}

type Item = VaultContent extends ReadonlyMap<string, infer Value> ? Value : never

/** Throws `usage` for a name that a credential cannot have. The error does not repeat it: it may be a value. */
export function checkName(name: string): void {
  if (/^[A-Za-z0-9_.:/@-]{1,200}$/.test(name)) return
  throw new CrabError('usage', 'Cannot use that name: it must be 1 to 200 of A-Z, a-z, 0-9 and _ . : / @ -', {
    hint: 'for example GITHUB_TOKEN; values are read from standard input or asked for',
  })
}

interface UnlockedVault {
  header: VaultHeader
  aesKey: Buffer
  source: KeySource
  content: VaultContent
}

interface VaultCache {
  /** The vault as it was unlocked last, which is valid as long as its file is the same. */
  last?: { stamp: string | undefined; unlocked: UnlockedVault }
  /** The search for a key that is under way, which everything that needs the same key waits for. */
  unsealing?: { keyId: string; done: Promise<UnlockedVault> } | undefined
}

/**
 * Reads and decrypts the file, unless it is as it was. A rotation may replace the file and its key between the two reads:
 * then it starts over with the new ones.
 */
async function unlock(home: VaultHome, signal: AbortSignal, cache: VaultCache = {}): Promise<UnlockedVault> {
  const { vault: path } = home.paths
  for (;;) {
    const stamp = await readStamp(path).catch(() => undefined) // readSealed() says why
    if (cache.last && stamp !== undefined && cache.last.stamp === stamp) return cache.last.unlocked
    const sealed = await readSealed(home)
    if (!sealed) throw new CrabError('missing', `Cannot open ${path}: there is no vault`, { hint: NO_VAULT })
    try {
      const unlocked =
        unsealAgain(sealed, cache, path) ?? (await unsealOnce(home, { sealed, stamp, cache }, signal))
      cache.last = { stamp, unlocked }
      return unlocked
    } catch (reason) {
      const now = await readSealed(home)
      if (now?.header.key.id === sealed.header.key.id) throw reason
    }
  }
}

/**
 * Decrypts the file, and finds its key once for all callers: a password manager may ask the user for each. A caller that is
 * cancelled leaves the search to the next one.
 */
async function unsealOnce(
  home: VaultHome,
  { sealed, stamp, cache }: { sealed: SealedVault; stamp: string | undefined; cache: VaultCache },
  signal: AbortSignal,
): Promise<UnlockedVault> {
  const keyId = sealed.header.key.id
  while (cache.unsealing?.keyId === keyId) {
    try {
      await abortable(cache.unsealing.done, signal)
    } catch (reason) {
      if (signal.aborted || !(reason instanceof CrabError) || reason.kind !== 'cancelled') throw reason
    }
    const again = unsealAgain(sealed, cache, home.paths.vault)
    if (again) return again
  }
  const done = unseal(home, sealed, signal).then((unlocked) => {
    cache.last = { stamp, unlocked }
    return unlocked
  })
  const own = { keyId, done }
  cache.unsealing = own
  try {
    return await done
  } finally {
    if (cache.unsealing === own) cache.unsealing = undefined
  }
}

/** Decrypts a new version of a file whose key is known; undefined when the key may be another one. */
function unsealAgain(sealed: SealedVault, { last }: VaultCache, path: string): UnlockedVault | undefined {
  if (!last || !isDeepStrictEqual(last.unlocked.header, sealed.header)) return undefined
  if (!fitsVault(sealed, last.unlocked.aesKey)) return undefined // unseal() says what is wrong with it
  return { ...last.unlocked, content: unsealVault(sealed, last.unlocked.aesKey, path) }
}

/** Lets other processes know that the user changed the vault (ADR 0211). Never fails: the change is stored. */
async function announceChange({ paths, isQuiet, now }: VaultHome): Promise<void> {
  if (isQuiet) return
  try {
    await using file = await open(paths.vaultChanged, 'a', 0o600)
    await file.utimes(now() / 1000, now() / 1000)
  } catch {
    // a server that waits for the credential then gets it at its next start
  }
}

async function unseal(home: VaultHome, sealed: SealedVault, signal: AbortSignal): Promise<UnlockedVault> {
  const { vault: path } = home.paths
  const { secret, source } = await findKey(home, sealed.header, signal)
  const aesKey = await deriveKey(secret, sealed.header.kdf)
  if (fitsVault(sealed, aesKey))
    return { header: sealed.header, aesKey, source, content: unsealVault(sealed, aesKey, path) }
  if (opens(sealed, aesKey, path)) throw damaged(path) // the key is right: only the sentinel was changed
  const from = { environment: `the key in ${KEY_VARIABLE}`, helper: 'the key of the helper' }
  const key = source === 'environment' || source === 'helper' ? from[source] : `its key (${source})`
  throw new CrabError('credentials', `Cannot open ${path}: ${key} does not fit, or the file was changed`, {
    hint: 'crabtalk vault status says which key it needs',
  })
}

function opens(sealed: SealedVault, aesKey: Buffer, path: string): boolean {
  try {
    unsealVault(sealed, aesKey, path)
    return true
  } catch {
    return false // the key is not the one of this vault
  }
}

async function readSealed({ paths }: VaultHome): Promise<SealedVault | undefined> {
  const text = await readTextFile(paths.vault)
  return text === undefined ? undefined : parseVault(text, paths.vault)
}

async function sealNew(
  { id, key }: { id: string; key: StoredKey },
  content: VaultContent,
): Promise<SealedVault> {
  const kdf = newKeyDerivation(key.secret)
  const header = { id, key: { source: key.source, id: key.id }, kdf }
  return sealVault(header, await deriveKey(key.secret, kdf), content)
}

async function chooseKey(
  home: VaultHome,
  { vaultId, source }: { vaultId: string; source: KeySource | undefined },
  signal: AbortSignal,
): Promise<StoredKey> {
  if (source === 'keychain' || source === 'file') return await storeNewKey(home, vaultId, source, signal)
  const own = await findUserKey(home, signal)
  if (own && (source === undefined || source === own.source)) return { ...own, id: newUlid() }
  if (source === undefined) return await storeNewKey(home, vaultId, undefined, signal)
  throw new CrabError('credentials', `Cannot create a vault with a key from the ${source}: it gives none`, {
    hint: source === 'environment' ? `set ${KEY_VARIABLE}` : 'set CRABTALK_VAULT_KEY_HELPER',
  })
}

function isTaken(name: string): CrabError {
  return new CrabError('conflict', `Cannot store ${name}: the vault has another value of that name by now`, {
    hint: 'run the command again',
  })
}

function lockName({ paths }: VaultHome): string {
  return `file:${paths.vault}`
}

/** The hint of errors about a home without a vault. */
const NO_VAULT =
  'create one with crabtalk vault init, or store a first credential with crabtalk vault set NAME'
