import { type FSWatcher, statSync, watch } from 'node:fs'

export interface WatchOptions {
  /** Need not exist yet, and may be replaced by another. */
  folder: string
  /** Whether a file of that name matters. */
  isWatched(file: string): boolean
  /** Called soon after something has changed, and now and then without that. Must not throw. */
  look(): void
  /** How often it looks without being told, milliseconds: for what no watcher tells. */
  lookMs?: number
}

/** Looks at once, and whenever files of a folder change, until it is disposed. Keeps no process alive. */
export function watchFolder({ folder, isWatched, look, lookMs = POLL_MS }: WatchOptions): Disposable {
  let watcher: FolderWatch | undefined
  let soon: NodeJS.Timeout | undefined
  const lookSoon = () => {
    soon ??= setTimeout(() => {
      soon = undefined
      look()
    }, SOON_MS).unref()
  }
  const onEvent = (_: string, file: string | null) => {
    if (file === null || isWatched(file)) lookSoon()
  }
  const lookAround = () => {
    watcher = follow(folder, watcher, onEvent)
    look()
  }
  lookAround()
  const timer = setInterval(lookAround, lookMs).unref()
  return {
    [Symbol.dispose]() {
      clearInterval(timer)
      clearTimeout(soon)
      watcher?.watcher.close()
    },
  }
}

interface FolderWatch {
  watcher: FSWatcher
  /** Which folder it is; another one may have its name by now. */
  id: string
}

/** A watcher of the folder that is there now; the old one when it is still that. */
function follow(
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
    watcher.on('error', () => watcher.close()) // then it is looked at now and then
    return { watcher, id }
  } catch {
    return undefined // no watches left, or the folder went away: it is looked at now and then
  }
}

function readFolderId(folder: string): string | undefined {
  try {
    const { dev, ino, birthtimeMs } = statSync(folder)
    return `${dev}:${ino}:${birthtimeMs}`
  } catch {
    return undefined // not there, or not to be looked at
  }
}

/** Files are often written in several steps. */
const SOON_MS = 50
const POLL_MS = 60_000
