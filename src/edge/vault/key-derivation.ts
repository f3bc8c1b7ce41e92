import { argon2, randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import { isObject } from '../../core/base/json.ts'

/** The parameters of Argon2id (RFC 9106) by which the secret of a vault becomes its AES key. */
export interface KeyDerivation {
  name: 'argon2id'
  memory_kib: number
  passes: number
  parallelism: number
  /** Base64. */
  salt: string
}

/**
 * Chooses the parameters for a secret. A passphrase gets the minimum that OWASP recommends (Password Storage
 * Cheat Sheet: 19 MiB, 2 passes); a random key of 256 bits, which cannot be guessed, the least that is possible.
 */
export function newKeyDerivation(secret: string): KeyDerivation {
  const [memory, passes] = isRandomKey(secret) ? [8, 1] : [19_456, 2]
  const salt = randomBytes(SALT_BYTES).toString('base64')
  return { name: 'argon2id', memory_kib: memory, passes, parallelism: 1, salt }
}

/** Derives the AES key of a vault, 32 bytes. */
export async function deriveKey(secret: string, kdf: KeyDerivation): Promise<Buffer> {
  return await promisify(argon2)('argon2id', {
    message: secret.normalize('NFC'),
    nonce: Buffer.from(kdf.salt, 'base64'),
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
  if (name !== 'argon2id' || typeof salt !== 'string' || Buffer.from(salt, 'base64').length < SALT_BYTES) {
    return undefined
  }
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
