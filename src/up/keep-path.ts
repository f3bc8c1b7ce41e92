/** The PATH a service has, that of the shell for services, and what tells them apart. */
export interface PathComparison {
  /** What stands in its unit; undefined where there is none. */
  before: string | undefined
  /** snapshotPath() of the shell. */
  now: string
  /** The same of a shell that has no PATH. */
  usual: string
  delimiter: string
  isDirectory(path: string): boolean
}

/**
 * The PATH of a service that runs, and which of its directories this shell does not have. A shell that has less of the
 * same and nothing else, as that of a timer, an agent or a login over ssh, takes nothing from a service; any other one has
 * the say, and directories that are gone go.
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
