import { sep } from 'node:path'
import { PROTECTED_FILES, PROTECTED_FOLDERS, PROTECTED_HOME_PATHS } from '../base/permission-lists.ts'
import type { PathGlob } from '../config/rule-syntax.ts'
import { isInside } from './paths.ts'
import type { EditGuard } from './types.ts'

/** The folders that determine which paths are protected, with links resolved. */
export interface EditContext {
  workspace: string
  /** The user's home directory; empty when there is none. */
  homeDir: string
  /** Files and folders of crabtalk's home that always require confirmation, regardless of rules and modes. */
  alwaysAsk: readonly string[]
}

/**
 * Returns the protection of a file; undefined for most files.
 *
 * Case is ignored. Folder names above the working directory do not count: a working directory inside of
 * `~/.crabtalk` is like any other.
 */
export function findGuard(
  path: string,
  { workspace, homeDir, alwaysAsk }: EditContext,
): EditGuard | undefined {
  const guarded = alwaysAsk.find((one) => isInside(one, path))
  if (guarded !== undefined) return { name: lastName(guarded), isAlways: true }
  const names = segments(isInside(workspace, path) ? path.slice(workspace.length) : path)
  const protectedName = names.find(
    (name, i) => PROTECTED_FOLDERS.has(name) || (i === names.length - 1 && FILE_NAMES.has(name)),
  )
  if (protectedName !== undefined) return { name: protectedName, isAlways: false }
  const own = homeDir !== '' && isInside(homeDir, path) ? segments(path.slice(homeDir.length)) : []
  const relativePath = own.join('/')
  const protectedPath = HOME_PATHS.find((one) => relativePath === one || relativePath.startsWith(`${one}/`))
  if (protectedPath !== undefined) return { name: lastName(protectedPath), isAlways: false }
  return own.length === 1 && START_FILE.test(relativePath)
    ? { name: relativePath, isAlways: false }
    : undefined
}

/** The protected files and paths in lower case, as they are compared. */
const FILE_NAMES: ReadonlySet<string> = new Set([...PROTECTED_FILES].map((name) => name.toLowerCase()))
const HOME_PATHS: readonly string[] = PROTECTED_HOME_PATHS.map((path) => path.toLowerCase())

/** Whether a rule names the protected item itself, rather than only something that covers it. */
export function namesGuarded(glob: PathGlob | undefined, { name }: EditGuard): boolean {
  return glob?.written.some((segment) => segment.replaceAll('\\', '').toLowerCase() === name) ?? false
}

function segments(path: string): string[] {
  return path.normalize('NFC').toLowerCase().split(sep).filter(Boolean)
}

function lastName(path: string): string {
  return segments(path).at(-1) ?? ''
}

/** Startup files of shells, login programs and editors. */
const START_FILE =
  /^\.(bash(rc|_profile|_login|_logout|_aliases)|profile|z(shrc|shenv|profile|login|logout)|kshrc|mkshrc|t?cshrc|login|logout|inputrc|xprofile|xinitrc|xsession|pam_environment|vimrc|exrc|gdbinit)$/
