import { argon2, hkdfSync, randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import { isObject } from '../../core/base/json.ts'

/** The derivation of a vault's AES key from its secret. */
export type KeyDerivation = PassphraseDerivation | RandomKeyDerivation

/** HKDF (RFC 5869), for a random key of 256 bits: it cannot be guessed, so that the derivation may be fast. */
interface RandomKeyDerivation {
  name: 'hkdf-sha256'
  /** Base64. */
  salt: string
}

/** The parameters of Argon2id (RFC 9106). */
interface PassphraseDerivation {
  name: 'argon2id'
  memory_kib: number
  passes: number
  parallelism: number
  /** Base64. */
  salt: string
}

/**
 * Chooses the derivation for a secret. A passphrase gets the minimum that OWASP recommends (Password Storage
 * Cheat Sheet: Argon2id with 19 MiB and 2 passes), a random key of 256 bits HKDF.
 */
export function newKeyDerivation(secret: string): KeyDerivation {
  const salt = randomBytes(SALT_BYTES).toString('base64')
  if (isRandomKey(secret)) return { name: 'hkdf-sha256', salt }
  return { name: 'argon2id', memory_kib: 19_456, passes: 2, parallelism: 1, salt }
}

/** Derives the AES key of a vault, 32 bytes. */
export async function deriveKey(secret: string, kdf: KeyDerivation): Promise<Buffer> {
  const [message, salt] = [secret.normalize('NFC'), Buffer.from(kdf.salt, 'base64')]
  if (kdf.name === 'hkdf-sha256') return Buffer.from(hkdfSync('sha256', message, salt, HKDF_INFO, 32))
  return await promisify(argon2)('argon2id', {
    message,
    nonce: salt,
    parallelism: kdf.parallelism,
    tagLength: 32,
    memory: kdf.memory_kib,
    passes: kdf.passes,
  })
}

/** Returns a random key of 256 bits, as 64 hexadecimal digits. */
export function newRandomKey(): string {
  return randomBytes(32).toString('hex')
}

/** Parses stored parameters; undefined when they are not valid, or so large that they would exhaust the machine. */
export function parseKeyDerivation(value: unknown): KeyDerivation | undefined {
  const { name, memory_kib, passes, parallelism, salt } = isObject(value) ? value : {}
  if (typeof salt !== 'string' || Buffer.from(salt, 'base64').length < SALT_BYTES) return undefined
  if (name === 'hkdf-sha256') return { name, salt }
  if (name !== 'argon2id') return undefined
  if (!isWithin(parallelism, 1, 16) || !isWithin(passes, 1, 64)) return undefined
  if (!isWithin(memory_kib, 8 * parallelism, 1024 * 1024)) return undefined
  return { name, memory_kib, passes, parallelism, salt }
}

/** Whether a secret has the form of 32 random bytes: 64 hexadecimal digits, or base64 with its padding. */
function isRandomKey(secret: string): boolean {
  return /^(?:[0-9a-f]{64}|[0-9A-F]{64}|[\w+/-]{43}=)$/.test(secret)
}

function isWithin(value: unknown, least: number, most: number): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most
}

const SALT_BYTES = 16
const HKDF_INFO = 'crabtalk vault'
