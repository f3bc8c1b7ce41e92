/** Where is searched, and what is never looked at. */
export interface FileSearchScope {
  /** A folder, or one file, which is searched whatever would ignore it. Absolute, links resolved. */
  root: string
  isFile: boolean
  /** By which path to reach the root, or the folder of that file, so that nothing put in its place is searched instead. */
  folder: string
  /** Files, and folders with all below, that are left out. Absolute, links resolved. */
  closed: readonly string[]
  /** Of paths below the root; an engine may give more than match. Links are not followed, and they match nothing. */
  glob: PathFilter | undefined
}

/** A glob of the model, read. */
export interface PathFilter {
  /** Whether it matches a path below the root, written with `/`. */
  matches(path: string): boolean
  /** A simple glob that the last segment of every such path matches; undefined when none is sure. */
  nameGlob: string | undefined
}

/** What is searched for. */
export interface SearchQuery {
  /** A regular expression over single lines. */
  pattern: string
  ignoreCase: boolean
}

/** A line that was found, or stands near one. */
export interface FoundLine {
  /** Below the root, written with `/`; the file's name when the root is a file. */
  path: string
  /** From 1. */
  number: number
  /** Without its line break. */
  text: string
  /** Where the match begins, in UTF-16 units; undefined for a line that only stands near one. */
  matchAt: number | undefined
}

/** A file that holds what was searched for. */
export interface FoundFile {
  path: string
  /** Lines that match; 1 when only the first was looked for. */
  lines: number
}

/**
 * Searches a tree: files that git would not ignore, hidden ones too, but never below `.git`; binary files hold nothing.
 *
 * Results come in any order, those of one file together. What cannot be read is passed over. Leaving an iteration stops
 * the search. Throws `invalid` for a pattern that is no regular expression.
 */
export interface SearchEngine {
  files(scope: FileSearchScope, signal: AbortSignal): AsyncIterable<string>
  /** Of one file no more than `limit` lines that match. */
  lines(
    query: SearchQuery & { context: number; limit: number },
    scope: FileSearchScope,
    signal: AbortSignal,
  ): AsyncIterable<FoundLine>
  /** Whether a file matches, or in how many lines. */
  matchingFiles(
    query: SearchQuery & { counted: boolean },
    scope: FileSearchScope,
    signal: AbortSignal,
  ): AsyncIterable<FoundFile>
}
