import { existsSync } from 'node:fs'
import { dirname, join, posix, sep, win32 } from 'node:path'

/** The way this program was installed. */
export type Installation =
  /**
   * In npm's package folder; `prefix` is the one of a global installation, absent for a project's dependency.
   */
  | { kind: 'npm'; path: string; folder: string; prefix?: string }
  /** A standalone file. */
  | { kind: 'file'; path: string }
  /** A source checkout. */
  | { kind: 'source'; path: string }

/** The system that holds the program; the current one by default. */
export interface System {
  isWindows: boolean
  exists(path: string): boolean
}

/** Detects from the program's path how it was installed. */
export function detectInstallation(
  { path, isOneFile }: { path: string; isOneFile: boolean },
  system: System = { isWindows: sep === win32.sep, exists: existsSync },
): Installation {
  if (!isOneFile) return { kind: 'source', path }
  const { sep: separator } = system.isWindows ? win32 : posix
  const parts = path.split(separator)
  const at = parts.indexOf('node_modules') // the outermost, because the platform package may be nested in the main one
  if (at < 0) return { kind: 'file', path }
  const folder = parts.slice(0, at + 1).join(separator)
  const prefix = globalPrefix(folder, system)
  return { kind: 'npm', path, folder, ...(prefix !== undefined && { prefix }) }
}

/**
 * Returns the prefix of a global package folder. On Windows npm puts the folder directly below the prefix and
 * the launchers beside it; a project has its launchers inside the folder.
 */
function globalPrefix(folder: string, { isWindows, exists }: System): string | undefined {
  if (!isWindows) {
    const lib = posix.dirname(folder)
    return posix.basename(lib) === 'lib' ? posix.dirname(lib) : undefined
  }
  const prefix = win32.dirname(folder)
  return exists(win32.join(prefix, 'crabtalk.cmd')) ? prefix : undefined
}

/**
 * Returns the path of the current program when `path` is `crabtalk.old` beside it; otherwise returns `path`.
 */
export function replacedProgram(path: string): string {
  const name = path.toLowerCase().endsWith('.exe') ? 'crabtalk.exe' : 'crabtalk'
  return path === oldProgram(path) ? join(dirname(path), name) : path
}

/** Returns the path of the previous version, kept beside the program. */
export function oldProgram(path: string): string {
  const isExe = path.toLowerCase().endsWith('.exe')
  return join(dirname(path), isExe ? 'crabtalk.old.exe' : 'crabtalk.old')
}
