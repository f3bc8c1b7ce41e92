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
import type { CheckpointPlace, PartToSave, SavedPart } from './types.ts'

/**
 * Saves a generation: writes the parts that have no file yet, switches to them with the manifest's rename, then removes
 * what belongs to no generation any more. Gives the parts' file names in their order.
 *
 * Durable when the promise resolves; until then the generation before is what is loaded. Only the holder of the lease
 * `index` may call it, once at a time. Fails with `storage`.
 */
export async function saveCheckpoint(
  { folder, maker }: CheckpointPlace,
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
      entries.push((await keepPart(folder, { part, known })) ?? (await writePart(folder, part)))
    }
    await syncDir(folder)
    signal.throwIfAborted()
    await replaceFile(join(folder, CHECKPOINT_MANIFEST), encodeManifest({ maker, parts: entries }))
    return entries.map(({ file }) => file)
  } catch (reason) {
    if (signal.aborted) throw signal.reason
    throw toStorageError(`Cannot save the search index in ${folder}`, reason)
  } finally {
    await removeLeftovers(folder) // of this generation, too, unless its manifest is in its place
  }
}

/**
 * The newest generation, its parts in the order in which they were saved; undefined when there is none, or anything in
 * it is not what was written, or another maker wrote it: then the index is to be built anew, and the log is told why.
 *
 * Never fails for what stands in files or cannot be read. May run while another process saves.
 */
export async function loadCheckpoint(
  { folder, maker }: CheckpointPlace,
  log: Log,
): Promise<SavedPart[] | undefined> {
  for (let attempt = 1; ; attempt++) {
    try {
      const manifest = await readManifest(folder)
      if (!manifest) return undefined
      if (manifest.maker !== maker) throw new Unusable('another version of the program made it')
      return await Promise.all(manifest.parts.map((entry) => readPart(folder, entry)))
    } catch (reason) {
      const isReplaced = isMissingFile(reason) && attempt < ATTEMPTS // a newer generation took its place meanwhile
      if (isReplaced) continue
      log('warn', `The search index in ${folder} is built anew: ${describeReason(reason)}`)
      return undefined
    }
  }
}

/**
 * Removes whatever is in the folder and not of the newest generation: what older ones had, and what a process left that
 * ended while it saved. The folder belongs to one index alone. Only the holder of the lease `index` may call it. Never fails.
 */
export async function removeLeftovers(folder: string): Promise<void> {
  try {
    const manifest = await readManifest(folder).catch(orDamaged)
    const kept = new Set(manifest ? [CHECKPOINT_MANIFEST, ...manifest.parts.map(({ file }) => file)] : [])
    for (const name of await readdir(folder)) {
      if (!kept.has(name)) await rm(join(folder, name), { recursive: true, force: true })
    }
  } catch {
    // what stays is removed by the next save; whatever must be written reports the disk
  }
}

/** Times a generation may be replaced while it is read. */
const ATTEMPTS = 5
/** A part is far smaller; one file of a hostile folder shall not take all memory. */
const MAX_PART_BYTES = 1024 * 1024 * 1024
const PRIVATE_FILE = 0o600

/** What is in the files is not what was written there. */
class Unusable extends Error {}

function describeReason(reason: unknown): string {
  return reason instanceof Unusable ? reason.message : toStorageError('it cannot be read', reason).message
}

/** Undefined when there is none. */
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

/** A damaged manifest names nothing; any other failure is one. */
function orDamaged(reason: unknown): undefined {
  if (!(reason instanceof Unusable)) throw reason
}

/** Undefined for a part that is in no file of the generation before, or whose file is not there any more. */
async function keepPart(
  folder: string,
  { part: { role, file }, known }: { part: PartToSave; known: readonly ManifestPart[] },
): Promise<ManifestPart | undefined> {
  const entry = file === undefined ? undefined : known.find((each) => each.file === file)
  if (!entry) return undefined
  const found = await stat(join(folder, entry.file)).catch(() => undefined) // then it is written again
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
  if (content.length !== bytes) throw new Unusable(`${file} has not the length it was written with`)
  const decoded = decodePart(content)
  if (typeof decoded === 'string') throw new Unusable(`${file} is damaged: ${decoded}`)
  if (decoded.crc !== crc) throw new Unusable(`${file} is not the one that was written`)
  return { role, file, part: decoded.part }
}

/** All bytes of a regular file, in memory that threads can share. */
async function readWhole(path: string, maxBytes: number): Promise<Uint8Array<SharedArrayBuffer>> {
  await using file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)) // a pipe shall not hold it up
  const found = await file.stat()
  if (!found.isFile() || found.size > maxBytes) throw new Unusable(`${path} is no file of an index`)
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

/** What one read may ask a system for. */
const PIECE_BYTES = 64 * 1024 * 1024
