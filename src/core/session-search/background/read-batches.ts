import { setImmediate as breathe } from 'node:timers/promises'
import { isMissingFile, toStorageError } from '../../base/files.ts'
import { BatchBuilder } from './batch-builder.ts'
import { changedFile } from './read-progress.ts'
import { openSessionText, type SessionText } from './session-text.ts'
import type { FileToRead, ReadBatch, ReadFile } from './types.ts'

/** Implements BackgroundJobs.readFiles() in this thread, yielding to other work from time to time. */
export async function* readBatches(
  files: readonly FileToRead[],
  signal: AbortSignal,
): AsyncGenerator<ReadBatch> {
  const builder = new BatchBuilder()
  let read = 0
  for (const file of files) {
    for (const bytes of readFile(file, builder)) {
      read += bytes
      if (read < BREATH_BYTES && !builder.isFull) continue
      signal.throwIfAborted()
      const batch = builder.isFull && builder.take()
      if (batch) yield batch
      await breathe()
      read = 0
    }
  }
  const rest = builder.take()
  if (rest) yield rest
}

/** The bytes of session files read before yielding to other work. */
const BREATH_BYTES = 512 * 1024

/** Adds a file to the builder; yields the number of bytes read, line by line. */
function* readFile(file: FileToRead, builder: BatchBuilder): Generator<number> {
  const { group, path, since } = file
  try {
    using text = openSessionText(path, since)
    if (text) yield* readText(text, { group, builder })
    builder.end(text ? { group, ...text.state, changed: false } : changedFile(group))
  } catch (reason) {
    builder.end(unreadable(file, reason))
  }
  yield COST_OF_FILE
}

/** Opening a file takes as long as reading this many bytes. */
const COST_OF_FILE = 16 * 1024

function* readText(
  text: SessionText,
  { group, builder }: { group: number; builder: BatchBuilder },
): Generator<number> {
  for (const { documents, bytes } of text.lines()) {
    for (const { row, text: words } of documents) builder.add({ ...row, group }, words)
    yield bytes
  }
  for (const { row, text: words } of text.descriptions()) builder.add({ ...row, group }, words)
}

/** A missing file is not a problem: the session was deleted. */
function unreadable({ group, path }: FileToRead, reason: unknown): ReadFile {
  const ended = { ...changedFile(group), changed: false }
  if (isMissingFile(reason)) return ended
  return { ...ended, problem: toStorageError(`Cannot read ${path}`, reason).message }
}
