import { resolve, sep } from 'node:path'
import { escapeGlob, globMatcher, hasGlob } from '../base/glob.ts'
import type { PathGlob } from '../config/rule-syntax.ts'

/** What the paths of rules are relative to. */
export interface PatternContext {
  workspace: string
  /** Empty when there is none. */
  homeDir: string
}

/**
 * Makes a test of whether a path of a rule covers an absolute path that has no links; compared in NFC.
 *
 * One that names a folder covers what is below it. `isGenerous`: upper and lower case are the same, a wildcard at the
 * end covers what is below, too, and a single name is found in every folder.
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
  const written = fold(resolve(root, ...glob.written)) // [id] may be a name, too
  const name = isGenerous ? nameMatcher(glob) : undefined
  let rest: ((way: string) => boolean) | undefined // most rules are about other folders
  return (path) => {
    const target = fold(path)
    if (name?.(target) || (isLiteral && relativeFrom(written, target) !== undefined)) return true
    const way = relativeFrom(base, target)
    if (way === undefined || glob.glob === undefined) return way !== undefined
    rest ??= restMatcher(glob.glob, isGenerous)
    return rest(way)
  }
}

/** A pattern that means just this path, or one so like it that no rule can tell them apart. */
export function toPathGlob(path: string): string {
  const plain = sep === '/' ? path : path.replaceAll(sep, '/')
  const escaped = escapeGlob(plain).replace(/[()]/g, '\\$&')
  return escaped.replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Cs}]/gu, '?').replace(/\s$/, '\\$&')
}

function restMatcher(glob: string, isGenerous: boolean): (way: string) => boolean {
  const namesFolder = isGenerous || !hasGlob(glob.slice(glob.lastIndexOf('/') + 1))
  return globMatcher(namesFolder ? `${glob}/**` : glob, { ignoreCase: isGenerous })
}

/** `.env` or `*.pem`, wherever it lies. */
function nameMatcher({ start, written }: PathGlob): ((target: string) => boolean) | undefined {
  const [name = '..', ...others] = written
  if (start !== '' || others.length > 0 || name === '..' || /^\*+$/.test(name)) return undefined
  const matches = globMatcher(name, { ignoreCase: true })
  return (target) => target.split('/').some(matches)
}

/** The way from a folder to a path in or below it; undefined when it is elsewhere. */
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
