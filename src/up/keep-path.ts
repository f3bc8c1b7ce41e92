/** The PATH in a service's unit and the PATH of the current shell, to be compared. */
export interface PathComparison {
  /** The PATH in the unit; undefined when there is no unit. */
  before: string | undefined
  /** The result of snapshotPath() for this shell. */
  now: string
  /** The result of snapshotPath() for a shell without a PATH. */
  usual: string
  delimiter: string
  isDirectory(path: string): boolean
}

/**
 * Chooses the PATH of a running service, and lists the directories it keeps that this shell lacks. A shell
 * whose PATH is only a subset (a timer, an agent, a login over ssh) removes nothing from the service; any
 * other shell replaces the PATH. Directories that no longer exist are dropped.
 */
export function keepPath({ before = '', now, usual, delimiter, isDirectory }: PathComparison): {
  path: string
  kept: readonly string[]
} {
  const here = new Set(now.split(delimiter))
  const there = new Set(before.split(delimiter).filter((folder) => here.has(folder) || isDirectory(folder)))
  const kept = [...there.difference(here)]
  const isLess = here.isSubsetOf(there.union(new Set(usual.split(delimiter))))
  return isLess && kept.length > 0
    ? { path: [...there.union(here)].join(delimiter), kept }
    : { path: now, kept: [] }
}
