import { readFile } from 'node:fs/promises'
import { isMissingFile, replaceFile, toStorageError } from '../../core/base/files.ts'
import type { UnitFile } from '../types.ts'
import { isSealed } from './seal.ts'

/** What writing a unit would change. */
export interface UnitChange {
  /** `edited`: somebody else wrote what stands there, or changed it, and has to be shown what is about to be lost. */
  kind: 'new' | 'same' | 'outdated' | 'edited'
  /** What stands there, as text; empty when there is nothing. */
  before: string
  after: string
}

/** Looks what writing a unit would change; nothing is written. Fails with `storage`. */
export async function unitChange({ path, content }: UnitFile): Promise<UnitChange> {
  const after = toText(content)
  const bytes = await readUnit(path)
  if (bytes === undefined) return { kind: 'new', before: '', after }
  const before = toText(bytes)
  if (bytes.equals(content)) return { kind: 'same', before, after }
  return { kind: isSealed(before) ? 'outdated' : 'edited', before, after }
}

/**
 * Writes a unit where it is new or differs, and gives what that changed. One that somebody has edited is kept beside it,
 * in a file that no service manager reads (editedUnitPath()).
 */
export async function writeUnit(unit: UnitFile): Promise<UnitChange['kind']> {
  const { kind } = await unitChange(unit)
  if (kind === 'same') return kind
  const edited = kind === 'edited' ? await readUnit(unit.path) : undefined
  if (edited) await replaceFile(editedUnitPath(unit.path), edited, UNIT_MODE)
  await replaceFile(unit.path, unit.content, UNIT_MODE)
  return kind
}

/** Where an edited unit is kept when it is written again. */
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

/** Line ends and byte order marks are the file's, not the text's. */
function toText(content: Uint8Array): string {
  const bytes = Buffer.from(content)
  const isUtf16 = bytes[0] === 0xff && bytes[1] === 0xfe
  return bytes
    .toString(isUtf16 ? 'utf16le' : 'utf8')
    .replace(/^\ufeff/, '')
    .replaceAll('\r\n', '\n')
}

/** Others may read a unit: it holds no secrets, and service managers warn of one that is hidden. */
const UNIT_MODE = 0o644
