/** A file of an archive with its content, or a link with its target. */
export type Entry = { path: string; bytes: Uint8Array; executable?: boolean } | { path: string; link: string }

/** Sorts entries by path, so that the same content always gives the same archive. */
export function inOrder(entries: readonly Entry[]): Entry[] {
  return entries.toSorted((a, b) => (a.path < b.path ? -1 : 1))
}
