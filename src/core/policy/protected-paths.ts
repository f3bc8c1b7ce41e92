import { sep } from 'node:path'
import { PROTECTED_FILES, PROTECTED_FOLDERS, PROTECTED_HOME_PATHS } from '../base/permission-lists.ts'
import type { PathGlob } from '../config/rule-syntax.ts'
import { isInside } from './paths.ts'
import type { EditGuard } from './types.ts'

/** The folders around an edit, links resolved. */
export interface EditContext {
  workspace: string
  /** The user's own directory; empty when there is none. */
  homeDir: string
  /** Files and folders of crabtalk's home that are asked about whatever rules and modes say. */
  asked: readonly string[]
}

/**
 * Says what is special about changing a file, or undefined for most.
 *
 * Names are compared without regard to case. Of names that stand for a folder anywhere, those above the working directory
 * do not count: one inside of `~/.crabtalk` is a working directory like any other.
 */
export function findGuard(
  path: string,
  { workspace, homeDir, asked: places }: EditContext,
): EditGuard | undefined {
  const asked = places.find((place) => isInside(place, path))
  if (asked !== undefined) return { name: lastName(asked), isAlways: true }
  const names = segments(isInside(workspace, path) ? path.slice(workspace.length) : path)
  const found = names.find(
    (name, i) => PROTECTED_FOLDERS.has(name) || (i === names.length - 1 && PROTECTED_FILES.has(name)),
  )
  if (found !== undefined) return { name: found, isAlways: false }
  const own = homeDir !== '' && isInside(homeDir, path) ? segments(path.slice(homeDir.length)) : []
  const way = own.join('/')
  const place = PROTECTED_HOME_PATHS.find((one) => way === one || way.startsWith(`${one}/`))
  if (place !== undefined) return { name: lastName(place), isAlways: false }
  return own.length === 1 && START_FILE.test(way) ? { name: way, isAlways: false } : undefined
}

/** Whether a rule names what a guard is about, and not only something that covers it. */
export function namesGuarded(glob: PathGlob | undefined, { name }: EditGuard): boolean {
  return glob?.written.some((segment) => segment.replaceAll('\\', '').toLowerCase() === name) ?? false
}

function segments(path: string): string[] {
  return path.normalize('NFC').toLowerCase().split(sep).filter(Boolean)
}

function lastName(path: string): string {
  return segments(path).at(-1) ?? ''
}

/** Read by shells, login programs and editors when they start. */
const START_FILE =
  /^\.(bash(rc|_profile|_login|_logout|_aliases)|profile|z(shrc|shenv|profile|login|logout)|kshrc|mkshrc|t?cshrc|login|logout|inputrc|xprofile|xinitrc|xsession|pam_environment|vimrc|exrc|gdbinit)$/
