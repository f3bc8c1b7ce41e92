/** The files that a search covers. */
export interface FileSearchScope {
  /** A folder, or a single file, which is searched even if it would be ignored. Absolute, links resolved. */
  root: string
  isFile: boolean
  /**
   * The path through which to reach the root, or the folder of that file, so that a replaced folder is not
   * searched instead.
   */
  folder: string
  /** Files, and folders with everything below them, that are left out. Absolute, links resolved. */
  closed: readonly string[]
  /**
   * A filter of paths below the root; an engine may return more than it matches. Links are not followed, and
   * never match.
   */
  glob: PathFilter | undefined
}

/** A parsed glob of the model. */
export interface PathFilter {
  /** Whether it matches a path below the root, written with `/`. */
  matches(path: string): boolean
  /**
   * A simple glob that the last segment of every matching path matches too; undefined when there is none for
   * certain.
   */
  nameGlob: string | undefined
}

/** A pattern to search for. */
export interface SearchQuery {
  /** A regular expression that is matched against single lines. */
  pattern: string
  ignoreCase: boolean
}

/** A matching line, or a context line near one. */
export interface FoundLine {
  /** The path below the root, written with `/`; the file's name when the root is a file. */
  path: string
  /** The line number, from 1. */
  number: number
  /** The line without its line break. */
  text: string
  /** The position of the match, in UTF-16 units; undefined for a context line. */
  matchAt: number | undefined
}

/** A file with at least one match. */
export interface FoundFile {
  path: string
  /** The number of matching lines; 1 when only the first was searched for. */
  lines: number
}

/**
 * Searches a tree: files that git does not ignore, including hidden ones, but never below `.git`; binary
 * files never match.
 *
 * Results come in any order, those of one file together. Unreadable files are skipped. Leaving an iteration
 * stops the search. Throws `invalid` for a pattern that is not a regular expression.
 */
export interface SearchEngine {
  files(scope: FileSearchScope, signal: AbortSignal): AsyncIterable<string>
  /** Yields matching lines with their context, at most `limit` matches per file. */
  lines(
    query: SearchQuery & { context: number; limit: number },
    scope: FileSearchScope,
    signal: AbortSignal,
  ): AsyncIterable<FoundLine>
  /** Yields matching files; with `counted` it counts their matching lines. */
  matchingFiles(
    query: SearchQuery & { counted: boolean },
    scope: FileSearchScope,
    signal: AbortSignal,
  ): AsyncIterable<FoundFile>
}
