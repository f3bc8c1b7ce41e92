import { type FSWatcher, watch } from 'node:fs'
import { waitAtMost } from '../../core/base/deadline.ts'
import { type LogEntry, parseLogEntry } from './entry.ts'
import { FileFollower } from './follow-file.ts'
import type { LogFilePath } from './log-files.ts'
import type { FileOffset } from './tail.ts'

/** The logs to follow, and where to continue. */
export interface FollowedLog {
  /** The folder of the files; it need not exist yet. */
  folder: string
  /** Lists the files to follow; called in every round, because files may be added. */
  files(): Promise<readonly LogFilePath[]>
  /** Returns where a file was read to; a file without an offset is read from its beginning. */
  readTo(file: LogFilePath): FileOffset | undefined
  /** Returns the entries from other sources since the last call. */
  others?(): Promise<readonly LogEntry[]>
  now(): number
  /** The polling interval in milliseconds, used when the file watcher reports nothing; 1 s by default. */
  everyMs?: number
}

/**
 * Yields new entries shortly after they are written, until the signal is aborted. Entries found in the same
 * round are sorted by time.
 */
export async function* followLogs(followed: FollowedLog, signal: AbortSignal): AsyncGenerator<LogEntry> {
  const { folder, files, readTo, others, now, everyMs = EVERY_MS } = followed
  const followers = new Map<string, FileFollower>()
  using news = watchFolder(folder, everyMs, signal)
  try {
    while (!signal.aborted) {
      const entries: LogEntry[] = [...((await others?.()) ?? [])]
      for (const file of await files()) {
        const follower = followers.get(file.path) ?? new FileFollower(file.path, readTo(file))
        followers.set(file.path, follower)
        for (const raw of await follower.next()) entries.push(parseLogEntry(raw, { ...file, about: now() }))
      }
      yield* entries.toSorted((a, b) => a.time - b.time)
      await news.wait()
    }
  } finally {
    await Promise.all([...followers.values()].map((one) => one[Symbol.asyncDispose]()))
  }
}

/**
 * Returns a waiter that resolves when the folder changes, or after `everyMs`. A missing folder is tried again
 * on each wait.
 */
function watchFolder(
  folder: string,
  everyMs: number,
  signal: AbortSignal,
): Disposable & { wait(): Promise<void> } {
  let watcher: FSWatcher | undefined
  let isChanged = false
  let wake = () => {}
  const change = () => {
    isChanged = true
    wake()
  }
  const open = () => {
    if (watcher) return
    try {
      watcher = watch(folder, change)
      watcher.on('error', close)
    } catch {
      watcher = undefined // it does not exist yet, or no watches are left: polling takes over
    }
  }
  const close = () => {
    watcher?.close()
    watcher = undefined
  }
  signal.addEventListener('abort', change, { once: true })
  return {
    async wait() {
      open()
      if (isChanged || signal.aborted) {
        isChanged = false
        return
      }
      const { promise, resolve } = Promise.withResolvers<void>()
      wake = resolve
      await waitAtMost(promise, everyMs)
      isChanged = false
    },
    [Symbol.dispose]() {
      close()
      signal.removeEventListener('abort', change)
    },
  }
}

const EVERY_MS = 1000
