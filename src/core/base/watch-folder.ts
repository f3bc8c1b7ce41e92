import { type FSWatcher, statSync, watch } from 'node:fs'

/** The options of `watchFolder()`. */
export interface WatchOptions {
  /** The folder to watch; it may not exist yet, and may be replaced by another one. */
  folder: string
  /** Whether changes of a file with that name matter. */
  isWatched(file: string): boolean
  /** Called shortly after a change, and at every poll. Must not throw. */
  look(): void
  /** The poll interval in milliseconds, for changes that the watcher misses. */
  lookMs?: number
}

/**
 * Calls `look` immediately and whenever files of a folder change, until it is disposed. Does not keep the
 * process alive.
 */
export function watchFolder({ folder, isWatched, look, lookMs = POLL_MS }: WatchOptions): Disposable {
  let watcher: FolderWatch | undefined
  let pendingLook: NodeJS.Timeout | undefined
  const scheduleLook = () => {
    pendingLook ??= setTimeout(() => {
      pendingLook = undefined
      look()
    }, DEBOUNCE_MS).unref()
  }
  const onEvent = (_: string, file: string | null) => {
    if (file === null || isWatched(file)) scheduleLook()
  }
  const poll = () => {
    watcher = rewatch(folder, watcher, onEvent)
    look()
  }
  poll()
  const timer = setInterval(poll, lookMs).unref()
  return {
    [Symbol.dispose]() {
      clearInterval(timer)
      clearTimeout(pendingLook)
      watcher?.watcher.close()
    },
  }
}

interface FolderWatch {
  watcher: FSWatcher
  /** Identifies the watched folder; another folder may have its path by now. */
  id: string
}

/** Returns a watcher of the folder that exists now: the previous one if it is still the same folder. */
function rewatch(
  folder: string,
  before: FolderWatch | undefined,
  onEvent: (kind: string, file: string | null) => void,
): FolderWatch | undefined {
  const id = readFolderId(folder)
  if (before && before.id === id) return before
  before?.watcher.close()
  if (id === undefined) return undefined
  try {
    const watcher = watch(folder, { persistent: false }, onEvent)
    watcher.on('error', () => watcher.close()) // polling continues
    return { watcher, id }
  } catch {
    return undefined // no watches left, or the folder is gone: polling continues
  }
}

function readFolderId(folder: string): string | undefined {
  try {
    const { dev, ino, birthtimeMs } = statSync(folder)
    return `${dev}:${ino}:${birthtimeMs}`
  } catch {
    return undefined // missing or not accessible
  }
}

/** The debounce time in milliseconds: files are often written in several steps. */
const DEBOUNCE_MS = 50
const POLL_MS = 60_000
