/** A change to the files of a package when they are bundled. */
export interface Patch {
  /** Matches the paths of the files. */
  filter: RegExp
  /** Returns the patched text; undefined when the expected text is missing. */
  patch(text: string, path: string): string | undefined
}

/** Replaces the only occurrence of a string; returns undefined unless it occurs exactly once. */
export function replaceOnly(text: string, what: string, by: string): string | undefined {
  const [before, after, ...more] = text.split(what)
  return after === undefined || more.length > 0 ? undefined : before + by + after
}
