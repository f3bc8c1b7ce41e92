import { readFile } from 'node:fs/promises'
import { isMissingFile, replaceFile, toStorageError } from '../../core/base/files.ts'
import type { UnitFile } from '../types.ts'
import { isSealed } from './seal.ts'

/** The change that writing a unit would make. */
export interface UnitChange {
  /**
   * `edited` when the existing unit was written or changed by other means; the user should see it before it
   * is replaced.
   */
  kind: 'new' | 'same' | 'outdated' | 'edited'
  /** The existing unit as text; empty when there is none. */
  before: string
  after: string
}

/** Determines what writing a unit would change, without writing it. Throws `storage`. */
export async function unitChange({ path, content }: UnitFile): Promise<UnitChange> {
  const after = toText(content)
  const bytes = await readUnit(path)
  if (bytes === undefined) return { kind: 'new', before: '', after }
  const before = toText(bytes)
  if (bytes.equals(content)) return { kind: 'same', before, after }
  return { kind: isSealed(before) ? 'outdated' : 'edited', before, after }
}

/**
 * Writes a unit that is new or differs; returns the kind of change. An edited unit is kept beside it, in a
 * file that no service manager reads (editedUnitPath()).
 */
export async function writeUnit(unit: UnitFile): Promise<UnitChange['kind']> {
  const { kind } = await unitChange(unit)
  if (kind === 'same') return kind
  const edited = kind === 'edited' ? await readUnit(unit.path) : undefined
  if (edited) await replaceFile(editedUnitPath(unit.path), edited, UNIT_MODE)
  await replaceFile(unit.path, unit.content, UNIT_MODE)
  return kind
}

/** Returns the path at which an edited unit is kept when it is rewritten. */
export function editedUnitPath(path: string): string {
  return `${path}.edited`
}

async function readUnit(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path)
  } catch (reason) {
    if (isMissingFile(reason)) return undefined
    throw toStorageError(`Cannot read ${path}`, reason)
  }
}

/** Decodes a unit without line-ending style and byte order mark, which are not part of its text. */
function toText(content: Uint8Array): string {
  const bytes = Buffer.from(content)
  const isUtf16 = bytes[0] === 0xff && bytes[1] === 0xfe
  return bytes
    .toString(isUtf16 ? 'utf16le' : 'utf8')
    .replace(/^\ufeff/, '')
    .replaceAll('\r\n', '\n')
}

/** World-readable: a unit holds no secrets, and service managers warn about stricter modes. */
const UNIT_MODE = 0o644
