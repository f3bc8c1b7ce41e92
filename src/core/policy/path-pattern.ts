import { resolve, sep } from 'node:path'
import { escapeGlob, globMatcher, hasGlob } from '../base/glob.ts'
import type { PathGlob } from '../config/rule-syntax.ts'

/** The folders that paths in rules are relative to. */
export interface PatternContext {
  workspace: string
  /** Added directories; their files are treated like those of the working directory. */
  roots?: readonly string[]
  /** The user's home directory; empty when there is none. */
  homeDir: string
}

/**
 * Returns a function that tests whether the path of a rule covers an absolute path without links. Paths are
 * compared in NFC.
 *
 * A rule for a folder covers everything below it. With `isGenerous`, case is ignored, a trailing wildcard
 * also covers everything below, and a single name matches in every folder.
 */
export function pathMatcher(
  glob: PathGlob,
  { workspace, homeDir }: PatternContext,
  { isGenerous }: { isGenerous: boolean },
): (path: string) => boolean {
  const root = { '': workspace, '~': homeDir }[glob.start] ?? glob.start
  if (root === '') return () => false
  const fold = isGenerous ? toFolded : toPlain
  const base = fold(resolve(root, ...glob.base))
  const isLiteral = glob.glob !== undefined && !glob.written.some((segment) => segment.includes('\\'))
  const literal = fold(resolve(root, ...glob.written)) // [id] may also be a literal name
  const name = isGenerous ? nameMatcher(glob) : undefined
  // The rest is compiled lazily, since most rules are about other folders.
  let rest: ((relativePath: string) => boolean) | undefined
  return (path) => {
    const target = fold(path)
    if (name?.(target) || (isLiteral && relativeFrom(literal, target) !== undefined)) return true
    const relativePath = relativeFrom(base, target)
    if (relativePath === undefined || glob.glob === undefined) return relativePath !== undefined
    rest ??= restMatcher(glob.glob, isGenerous)
    return rest(relativePath)
  }
}

/** Returns a pattern for exactly this path. Characters that no rule can hold become `?`. */
export function toPathGlob(path: string): string {
  const plain = sep === '/' ? path : path.replaceAll(sep, '/')
  const escaped = escapeGlob(plain).replace(/[()]/g, '\\$&')
  return escaped.replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Cs}]/gu, '?').replace(/\s$/, '\\$&')
}

function restMatcher(glob: string, isGenerous: boolean): (relativePath: string) => boolean {
  const namesFolder = isGenerous || !hasGlob(glob.slice(glob.lastIndexOf('/') + 1))
  return globMatcher(namesFolder ? `${glob}/**` : glob, { ignoreCase: isGenerous })
}

/**
 * Returns a matcher for a single name, such as `.env` or `*.pem`, in any folder; undefined for other
 * patterns.
 */
function nameMatcher({ start, written }: PathGlob): ((target: string) => boolean) | undefined {
  const [name = '..', ...others] = written
  if (start !== '' || others.length > 0 || name === '..' || /^\*+$/.test(name)) return undefined
  const matches = globMatcher(name, { ignoreCase: true })
  return (target) => target.split('/').some(matches)
}

/** Returns the relative path from a folder to itself or to a path below it; undefined for other paths. */
function relativeFrom(folder: string, path: string): string | undefined {
  if (path === folder) return ''
  const start = folder.endsWith('/') ? folder : `${folder}/`
  return path.startsWith(start) ? path.slice(start.length) : undefined
}

function toPlain(path: string): string {
  return (sep === '/' ? path : path.replaceAll(sep, '/')).normalize('NFC')
}

function toFolded(path: string): string {
  return toPlain(path).toLowerCase()
}
