/** A file of an archive: its bytes, or where a link of that name leads. */
export type Entry = { path: string; bytes: Uint8Array; executable?: boolean } | { path: string; link: string }

/** All entries by their paths, so that the same content always gives the same archive. */
export function inOrder(entries: readonly Entry[]): Entry[] {
  return entries.toSorted((a, b) => (a.path < b.path ? -1 : 1))
}
