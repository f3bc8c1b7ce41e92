import { type FSWatcher, watch } from 'node:fs'
import { type LogEntry, parseLogEntry } from './entry.ts'
import { FileFollower } from './follow-file.ts'
import type { LogFilePath } from './log-files.ts'
import type { FileOffset } from './tail.ts'

/** What is followed. */
export interface FollowedLog {
  /** The folder of the files; it need not exist yet. */
  folder: string
  /** The files there are to be now; asked again and again, others may come. */
  files(): Promise<readonly LogFilePath[]>
  /** Where a file was read to; others are read from their beginning. */
  readTo(file: LogFilePath): FileOffset | undefined
  /** What came from elsewhere since it was last asked. */
  others?(): Promise<readonly LogEntry[]>
  now(): number
  /** How often it looks without being told, milliseconds. */
  everyMs?: number
}

/** What is written from now on, soon after it was, in the order of its times as far as it came together; until the signal. */
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

/** Waits until a folder changes, for a while at most; a folder that is not there yet is looked for each time. */
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
      watcher = undefined // it is not there yet, or no watches are left: it is looked at now and then
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
      const timer = setTimeout(resolve, everyMs)
      wake = resolve
      await promise
      clearTimeout(timer)
      isChanged = false
    },
    [Symbol.dispose]() {
      close()
      signal.removeEventListener('abort', change)
    },
  }
}

const EVERY_MS = 1000
