import { constants, type FileHandle, open, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { isMissingFile, makePrivateDir, replaceFile, syncDir, toStorageError } from '../../base/files.ts'
import { newUlid } from '../../base/ids.ts'
import type { Log } from '../../base/log.ts'
import {
  CHECKPOINT_MANIFEST,
  type CheckpointManifest,
  decodeManifest,
  encodeManifest,
  MAX_MANIFEST_BYTES,
  type ManifestPart,
  toPartFile,
} from './manifest.ts'
import { decodePart, encodePart } from './part-file.ts'
import type { CheckpointLocation, PartToSave, SavedPart } from './types.ts'

/**
 * Saves a generation: writes the parts that have no file yet, switches to them by renaming the manifest, then
 * removes the files that no generation uses any more. Returns the file names of the parts, in order.
 *
 * Durable once the promise resolves; until then the previous generation is the one that loads. Only the
 * holder of the lease `index` may call it, one call at a time. Throws `storage`.
 */
export async function saveCheckpoint(
  { folder, maker }: CheckpointLocation,
  parts: readonly PartToSave[],
  signal: AbortSignal,
): Promise<string[]> {
  try {
    await makePrivateDir(folder)
    await removeLeftovers(folder)
    const known = (await readManifest(folder))?.parts ?? []
    const entries: ManifestPart[] = []
    for (const part of parts) {
      signal.throwIfAborted()
      entries.push((await reusePart(folder, { part, known })) ?? (await writePart(folder, part)))
    }
    await syncDir(folder)
    signal.throwIfAborted()
    await replaceFile(join(folder, CHECKPOINT_MANIFEST), encodeManifest({ maker, parts: entries }))
    return entries.map(({ file }) => file)
  } catch (reason) {
    if (signal.aborted) throw signal.reason
    throw toStorageError(`Cannot save the search index in ${folder}`, reason)
  } finally {
    await removeLeftovers(folder) // also removes the files of this generation when its manifest is not in place
  }
}

/**
 * Loads the newest generation, its parts in the order they were saved. Returns undefined when there is none,
 * when anything in it differs from what was written, or when another maker wrote it. The index must then be
 * rebuilt; the reason is logged.
 *
 * Never throws for unreadable or corrupt files. May run while another process saves.
 */
export async function loadCheckpoint(
  { folder, maker }: CheckpointLocation,
  log: Log,
): Promise<SavedPart[] | undefined> {
  for (let attempt = 1; ; attempt++) {
    try {
      const manifest = await readManifest(folder)
      if (!manifest) return undefined
      if (manifest.maker !== maker) throw new Unusable('a different version of the program wrote it')
      return await Promise.all(manifest.parts.map((entry) => readPart(folder, entry)))
    } catch (reason) {
      // a newer generation replaced this one while it was read
      const isReplaced = isMissingFile(reason) && attempt < ATTEMPTS
      if (isReplaced) continue
      log('warn', `The search index in ${folder} is being rebuilt: ${describeReason(reason)}`)
      return undefined
    }
  }
}

/**
 * Removes every file in the folder that does not belong to the newest generation: files of older ones, and
 * those of a process that ended while saving. The folder must belong to one index alone. Only the holder of
 * the lease `index` may call it. Never throws.
 */
export async function removeLeftovers(folder: string): Promise<void> {
  try {
    const manifest = await readManifest(folder).catch(ignoreDamage)
    const retained = new Set(manifest ? [CHECKPOINT_MANIFEST, ...manifest.parts.map(({ file }) => file)] : [])
    for (const name of await readdir(folder)) {
      if (!retained.has(name)) await rm(join(folder, name), { recursive: true, force: true })
    }
  } catch {
    // the next save removes what remains, and any write that must succeed reports disk errors
  }
}

/** The number of times a load starts over because a newer generation replaced the one it was reading. */
const ATTEMPTS = 5
/**
 * A limit far above the size of any part; it keeps a single file of a hostile folder from exhausting memory.
 */
const MAX_PART_BYTES = 1024 * 1024 * 1024
const PRIVATE_FILE = 0o600

/** A file does not contain what was written to it. */
class Unusable extends Error {}

function describeReason(reason: unknown): string {
  return reason instanceof Unusable ? reason.message : toStorageError('it cannot be read', reason).message
}

/** Returns undefined when there is no manifest. */
async function readManifest(folder: string): Promise<CheckpointManifest | undefined> {
  try {
    const bytes = await readWhole(join(folder, CHECKPOINT_MANIFEST), MAX_MANIFEST_BYTES)
    const manifest = decodeManifest(Buffer.from(bytes.buffer).toString())
    if (manifest) return manifest
    throw new Unusable('its manifest is damaged')
  } catch (reason) {
    if (isMissingFile(reason)) return undefined
    throw reason
  }
}

/** Treats a damaged manifest as one that names no files; rethrows any other failure. */
function ignoreDamage(reason: unknown): undefined {
  if (!(reason instanceof Unusable)) throw reason
}

/**
 * Returns undefined for a part that has no file in the previous generation, or whose file is missing or
 * truncated.
 */
async function reusePart(
  folder: string,
  { part: { role, file }, known }: { part: PartToSave; known: readonly ManifestPart[] },
): Promise<ManifestPart | undefined> {
  const entry = file === undefined ? undefined : known.find((each) => each.file === file)
  if (!entry) return undefined
  const found = await stat(join(folder, entry.file)).catch(() => undefined) // a missing file is written again
  return found?.size === entry.bytes ? { ...entry, role } : undefined
}

async function writePart(folder: string, { role, part }: PartToSave): Promise<ManifestPart> {
  const name = toPartFile(newUlid())
  const { pieces, crc } = encodePart(part)
  await using file = await open(join(folder, name), 'wx', PRIVATE_FILE)
  for (const piece of pieces) await file.writeFile(piece)
  await file.datasync()
  return { role, file: name, bytes: pieces.reduce((sum, { length }) => sum + length, 0), crc }
}

async function readPart(folder: string, { role, file, bytes, crc }: ManifestPart): Promise<SavedPart> {
  const content = await readWhole(join(folder, file), MAX_PART_BYTES)
  if (content.length !== bytes) throw new Unusable(`${file} does not have the length it was written with`)
  const decoded = decodePart(content)
  if (typeof decoded === 'string') throw new Unusable(`${file} is damaged: ${decoded}`)
  if (decoded.crc !== crc) throw new Unusable(`${file} is not the one that was written`)
  return { role, file, part: decoded.part }
}

/** Reads all bytes of a regular file into memory that threads can share. */
async function readWhole(path: string, maxBytes: number): Promise<Uint8Array<SharedArrayBuffer>> {
  // opening a named pipe must not block
  await using file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  const found = await file.stat()
  if (!found.isFile() || found.size > maxBytes) throw new Unusable(`${path} is not an index file`)
  const bytes = new Uint8Array(new SharedArrayBuffer(found.size))
  await fill(file, bytes)
  return bytes
}

async function fill(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let filled = 0; filled < bytes.length; ) {
    const { bytesRead } = await file.read(bytes, filled, Math.min(bytes.length - filled, PIECE_BYTES), filled)
    if (bytesRead === 0) throw new Unusable('a file ended while it was read')
    filled += bytesRead
  }
}

/** The maximum size of a single read. */
const PIECE_BYTES = 64 * 1024 * 1024
