import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { CrabError } from '../../core/base/errors.ts'
import { isObject, parseObject, toShownJson } from '../../core/base/json.ts'
import { type KeyDerivation, parseKeyDerivation } from './key-derivation.ts'
import { KEY_SOURCES, type KeySource } from './types.ts'

/** The unencrypted part of a vault file. It is authenticated with everything that is encrypted. */
export interface VaultHeader {
  /** Identifies the vault, wherever its home is moved to: 32 hexadecimal digits. */
  id: string
  key: VaultKeyName
  kdf: KeyDerivation
}

/** The place of a key: its source, and its id there. A new key always has a new id. */
export interface VaultKeyName {
  source: KeySource
  id: string
}

/** A vault file whose content is still encrypted. */
export interface SealedVault {
  header: VaultHeader
  /** A known text, by which a wrong key is told from a damaged file. */
  sentinel: string
  items: string
}

/** The content of a vault: credentials by name, with the time of their last change in ISO 8601. */
export type VaultContent = ReadonlyMap<string, { value: string; updated: string }>

/** Encrypts a vault. Nothing of its content, not even a name, is readable without the key. */
export function sealVault(header: VaultHeader, key: Buffer, content: VaultContent): SealedVault {
  const items = JSON.stringify({ items: Object.fromEntries(content) })
  return {
    header,
    sentinel: encrypt(key, associate(header, 'sentinel'), SENTINEL),
    items: encrypt(key, associate(header, 'items'), items),
  }
}

/** Whether a derived key is the one of a vault. */
export function fitsVault({ header, sentinel }: SealedVault, key: Buffer): boolean {
  return decrypt(key, associate(header, 'sentinel'), sentinel) === SENTINEL
}

/** Decrypts a vault with the key that fits it. Throws `storage` when its content is damaged. */
export function unsealVault({ header, items }: SealedVault, key: Buffer, path: string): VaultContent {
  const text = decrypt(key, associate(header, 'items'), items)
  const found = text === undefined ? undefined : parseObject(text)?.['items']
  if (!isObject(found)) throw damaged(path)
  return new Map(
    Object.entries(found).map(([name, item]) => {
      const { value, updated } = isObject(item) ? item : {}
      if (typeof value !== 'string' || typeof updated !== 'string') throw damaged(path)
      return [name, { value, updated }]
    }),
  )
}

/** Formats a vault as the text of its file. */
export function formatVault({ header, sentinel, items }: SealedVault): string {
  return `${toShownJson({ crabtalk_vault: VERSION, ...header, sentinel, items }, 2)}\n`
}

/**
 * Parses the text of a vault file, which must be exactly as formatVault() writes it. Throws `storage` when it
 * is not, and `config` for a version of the format that this program does not know.
 */
export function parseVault(text: string, path: string): SealedVault {
  const table = parseObject(text)
  const version = table?.['crabtalk_vault']
  if (typeof version === 'number' && version > VERSION) {
    throw new CrabError('config', `Cannot read ${path}: a newer version of crabtalk has written it`, {
      hint: 'update crabtalk',
    })
  }
  const { id, key, kdf, sentinel, items } = table ?? {}
  const keyName = parseKeyName(key)
  const derivation = parseKeyDerivation(kdf)
  if (typeof id !== 'string' || typeof sentinel !== 'string' || typeof items !== 'string') throw damaged(path)
  if (!/^[0-9a-f]{32}$/.test(id) || !keyName || !derivation) throw damaged(path)
  const vault = { header: { id, key: keyName, kdf: derivation }, sentinel, items }
  if (formatVault(vault) !== text) throw damaged(path)
  return vault
}

function parseKeyName(value: unknown): VaultKeyName | undefined {
  const { source, id } = isObject(value) ? value : {}
  const known = KEY_SOURCES.find((one) => one === source)
  return known && typeof id === 'string' && /^[0-9A-Z]{26}$/.test(id) ? { source: known, id } : undefined
}

/** Returns the data that a part of a vault is authenticated with: the vault, and which part it is. */
function associate(header: VaultHeader, part: 'sentinel' | 'items'): Buffer {
  return Buffer.from(JSON.stringify(['crabtalk vault', VERSION, header, part]))
}

/** Encrypts with AES-256-GCM: nonce, tag and text, in base64. */
function encrypt(key: Buffer, associated: Buffer, text: string): string {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(associated)
  const encrypted = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), encrypted]).toString('base64')
}

/** Decrypts what encrypt() returned; undefined when the key or the associated data differ, or it was changed. */
function decrypt(key: Buffer, associated: Buffer, sealed: string): string | undefined {
  const bytes = Buffer.from(sealed, 'base64')
  if (bytes.length < NONCE_BYTES + TAG_BYTES) return undefined
  const [nonce, tag] = [bytes.subarray(0, NONCE_BYTES), bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES)]
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES })
  decipher.setAAD(associated).setAuthTag(tag)
  try {
    const text = decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES))
    return Buffer.concat([text, decipher.final()]).toString()
  } catch {
    return undefined // the tag does not match
  }
}

/** Returns the error for a vault file that was changed or truncated. */
export function damaged(path: string): CrabError {
  return new CrabError('storage', `Cannot read ${path}: the file is damaged`, {
    hint: 'restore it from a backup; without one, delete it and store your credentials again with crabtalk vault set',
  })
}

const VERSION = 1
const SENTINEL = 'crabtalk vault'
const NONCE_BYTES = 12
const TAG_BYTES = 16
