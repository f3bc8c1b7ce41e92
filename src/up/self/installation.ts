import { existsSync } from 'node:fs'
import { dirname, join, posix, sep, win32 } from 'node:path'

/** How this program came here. */
export type Installation =
  /** In the folder of npm's packages; `prefix` is that of a global installation, absent when it belongs to a project. */
  | { kind: 'npm'; path: string; folder: string; prefix?: string }
  /** A file of its own. */
  | { kind: 'file'; path: string }
  /** The folder of the sources. */
  | { kind: 'source'; path: string }

/** What is known of the system a program lies in; by default this one. */
export interface System {
  isWindows: boolean
  exists(path: string): boolean
}

/** Reads from where the program lies how it was installed. */
export function detectInstallation(
  { path, isOneFile }: { path: string; isOneFile: boolean },
  system: System = { isWindows: sep === win32.sep, exists: existsSync },
): Installation {
  if (!isOneFile) return { kind: 'source', path }
  const { sep: separator } = system.isWindows ? win32 : posix
  const parts = path.split(separator)
  const at = parts.indexOf('node_modules') // the outermost: the platform's package may lie inside the other one
  if (at < 0) return { kind: 'file', path }
  const folder = parts.slice(0, at + 1).join(separator)
  const prefix = globalPrefix(folder, system)
  return { kind: 'npm', path, folder, ...(prefix !== undefined && { prefix }) }
}

/**
 * The prefix of a folder of packages for everybody. npm for Windows has it right below the prefix, and puts what starts
 * programs beside it; those of a project are inside of it.
 */
function globalPrefix(folder: string, { isWindows, exists }: System): string | undefined {
  if (!isWindows) {
    const lib = posix.dirname(folder)
    return posix.basename(lib) === 'lib' ? posix.dirname(lib) : undefined
  }
  const prefix = win32.dirname(folder)
  return exists(win32.join(prefix, 'crabtalk.cmd')) ? prefix : undefined
}

/** The program that belongs beside one that an update has set aside; any other program itself. */
export function replacedProgram(path: string): string {
  const name = path.toLowerCase().endsWith('.exe') ? 'crabtalk.exe' : 'crabtalk'
  return path === oldProgram(path) ? join(dirname(path), name) : path
}

/** The one that was replaced last, beside the program. */
export function oldProgram(path: string): string {
  const isExe = path.toLowerCase().endsWith('.exe')
  return join(dirname(path), isExe ? 'crabtalk.old.exe' : 'crabtalk.old')
}
