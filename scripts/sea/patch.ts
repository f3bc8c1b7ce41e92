/** A change to files of a package while they are bundled. */
export interface Patch {
  /** Which files, by their path. */
  filter: RegExp
  /** The text as it should be; undefined when what is to be changed is not there as expected. */
  patch(text: string, path: string): string | undefined
}

/** The text with its only occurrence of something replaced; undefined when it is not there exactly once. */
export function replaceOnly(text: string, what: string, by: string): string | undefined {
  const [before, after, ...more] = text.split(what)
  return after === undefined || more.length > 0 ? undefined : before + by + after
}
