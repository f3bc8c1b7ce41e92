import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createFile, isMissingFile, replaceFile } from '../../../base/files.ts'
import { isObject, parseObject } from '../../../base/json.ts'
import type { JsonObject } from '../../../base/message.ts'
import { sha256 } from '../../../base/sha256.ts'
import { hashVersion } from '../version.ts'

/** The record of a turn's changes to one file, for undo. */
export interface BackupFile {
  /** Absolute, links resolved. */
  path: string
  /** The file before the turn first changed it; undefined when it did not exist. */
  before: OriginalFile | undefined
  /** Every version that the turn wrote, or was about to write. */
  after: readonly string[]
  /** Folders that the turn was about to create for it, outermost first. */
  folders: readonly string[]
  /** Whether something else changed it between two changes of the turn. */
  isMixed: boolean
}

/** The state of a file before a turn. */
export interface OriginalFile {
  version: string
  bytes: number
  /** The permission bits. */
  mode: number
  /** Empty when the content is backed up; otherwise why it is not, as the end of a sentence. */
  lost: string
}

/**
 * Reads the records of the turn that is backed up in this folder, in the order of their paths; none when the
 * folder does not exist.
 */
export async function readBackups(folder: string): Promise<BackupFile[]> {
  const names = await readdir(folder).catch(() => []) // never created, or deleted like a cache
  const records = names.filter((name) => name.endsWith(RECORD)).map((name) => readRecord(join(folder, name)))
  const files = (await Promise.all(records)).filter((file) => file !== undefined)
  return files.sort((a, b) => (a.path < b.path ? -1 : 1))
}

/** Reads the record of one file; undefined when there is none. */
export function readBackup(folder: string, path: string): Promise<BackupFile | undefined> {
  return readRecord(toRecordPath(folder, path))
}

/**
 * Stores what a file was and what the turn is about to make of it; durable, the content first. Fails with
 * `storage`.
 */
export async function writeBackup(folder: string, file: BackupFile, content?: Uint8Array): Promise<void> {
  if (content) await createFile(toContentPath(folder, file.path), content)
  await replaceFile(toRecordPath(folder, file.path), `${JSON.stringify(toRecord(file))}\n`)
}

/** Reads the content of a file before the turn; undefined when the backup is gone or damaged. */
export async function readBackupContent(folder: string, file: BackupFile): Promise<Buffer | undefined> {
  // It may be deleted like a cache.
  const bytes = await readFile(toContentPath(folder, file.path)).catch(() => undefined)
  return bytes && (await hashVersion(bytes)) === file.before?.version ? bytes : undefined
}

/** Deletes the backup of one file of a turn. */
export async function removeBackup(folder: string, path: string): Promise<void> {
  await rm(toRecordPath(folder, path), { force: true })
  await rm(toContentPath(folder, path), { force: true })
}

const RECORD = '.json'

/** Hashes the path, so that no path can collide with a part of another. */
function toContentPath(folder: string, path: string): string {
  return join(folder, sha256(path).toString('hex').slice(0, 32))
}

function toRecordPath(folder: string, path: string): string {
  return toContentPath(folder, path) + RECORD
}

async function readRecord(path: string): Promise<BackupFile | undefined> {
  try {
    return toBackupFile(parseObject(await readFile(path, 'utf8')) ?? {})
  } catch (reason) {
    if (isMissingFile(reason)) return undefined
    throw reason
  }
}

function toRecord({ path, before, after, folders, isMixed }: BackupFile): JsonObject {
  return { v: 1, path, before: before ?? null, after, folders, mixed: isMixed }
}

/**
 * Validates a record; undefined for one that this build does not understand, because undo must not restore
 * what it cannot judge.
 */
function toBackupFile({ v, path, before, after, folders, mixed }: JsonObject): BackupFile | undefined {
  const isKnown = v === 1 && typeof path === 'string' && isTexts(after) && isTexts(folders)
  if (!isKnown || (before !== null && !isOriginalFile(before))) return undefined
  return { path, before: before ?? undefined, after, folders, isMixed: mixed === true }
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}

function isOriginalFile(value: unknown): value is OriginalFile {
  if (!isObject(value)) return false
  const { version, bytes, mode, lost } = value
  const isMeasured = typeof bytes === 'number' && typeof mode === 'number'
  return isMeasured && typeof version === 'string' && typeof lost === 'string'
}
