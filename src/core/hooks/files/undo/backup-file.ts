import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createFile, isMissingFile, replaceFile } from '../../../base/files.ts'
import { isObject, parseObject } from '../../../base/json.ts'
import type { JsonObject } from '../../../base/message.ts'
import { sha256 } from '../../../base/sha256.ts'
import { hashVersion } from '../version.ts'

/** What a turn did to one file, as far as undo needs it. */
export interface BackupFile {
  /** Absolute, links resolved. */
  path: string
  /** Before the turn first changed it; undefined: there was no such file. */
  before: OriginalFile | undefined
  /** Every version the turn gave it, or was about to. */
  after: readonly string[]
  /** Folders the turn was about to make for it, outermost first. */
  folders: readonly string[]
  /** Between two changes of the turn something else changed it. */
  isMixed: boolean
}

/** A file as it was. */
export interface OriginalFile {
  version: string
  bytes: number
  /** Permission bits. */
  mode: number
  /** Empty where the content is kept; else why not, as the end of a sentence. */
  lost: string
}

/** The files of a turn that is kept in that folder, in the order of their paths; none where there is no such folder. */
export async function readBackups(folder: string): Promise<BackupFile[]> {
  const names = await readdir(folder).catch(() => []) // it is never made, or deleted as a cache may be
  const records = names.filter((name) => name.endsWith(RECORD)).map((name) => readRecord(join(folder, name)))
  const files = (await Promise.all(records)).filter((file) => file !== undefined)
  return files.sort((a, b) => (a.path < b.path ? -1 : 1))
}

/** What is kept of one file. */
export function readBackup(folder: string, path: string): Promise<BackupFile | undefined> {
  return readRecord(toRecordPath(folder, path))
}

/** Keeps what a file was and what the turn is about to make of it; durable, the content first. Fails with `storage`. */
export async function writeBackup(folder: string, file: BackupFile, content?: Uint8Array): Promise<void> {
  if (content) await createFile(toContentPath(folder, file.path), content)
  await replaceFile(toRecordPath(folder, file.path), `${JSON.stringify(toRecord(file))}\n`)
}

/** The content of a file before the turn; undefined when it is not there any more as it was. */
export async function readBackupContent(folder: string, file: BackupFile): Promise<Buffer | undefined> {
  const bytes = await readFile(toContentPath(folder, file.path)).catch(() => undefined) // deleted as a cache may be
  return bytes && (await hashVersion(bytes)) === file.before?.version ? bytes : undefined
}

/** Forgets a file of a turn. */
export async function removeBackup(folder: string, path: string): Promise<void> {
  await rm(toRecordPath(folder, path), { force: true })
  await rm(toContentPath(folder, path), { force: true })
}

const RECORD = '.json'

/** No path becomes a part of another. */
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

/** Undefined for what this build does not understand: it takes nothing back that it cannot judge. */
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
