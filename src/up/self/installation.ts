import { dirname, join, sep } from 'node:path'

/** How this program came here. */
export type Installation =
  /** In the folder of npm's packages; `prefix` is that of a global installation, absent when it belongs to a project. */
  | { kind: 'npm'; path: string; folder: string; prefix?: string }
  /** A file of its own. */
  | { kind: 'file'; path: string }
  /** The folder of the sources. */
  | { kind: 'source'; path: string }

/** Reads from where the program lies how it was installed; nothing is looked up. */
export function installationOf({ path, isOneFile }: { path: string; isOneFile: boolean }): Installation {
  if (!isOneFile) return { kind: 'source', path }
  const parts = path.split(sep)
  const at = parts.indexOf('node_modules') // the outermost: the platform's package may lie inside the other one
  if (at < 0) return { kind: 'file', path }
  const folder = parts.slice(0, at + 1).join(sep)
  const isGlobal = parts[at - 1] === 'lib' || isWindowsPrefix(parts, at)
  if (!isGlobal) return { kind: 'npm', path, folder }
  return {
    kind: 'npm',
    path,
    folder,
    prefix: parts[at - 1] === 'lib' ? dirname(dirname(folder)) : dirname(folder),
  }
}

/** npm for Windows puts global packages right below its prefix, which by default has its own name. */
function isWindowsPrefix(parts: readonly string[], at: number): boolean {
  return sep === '\\' && parts[at - 1]?.toLowerCase() === 'npm'
}

/** The one that was replaced last, beside the program. */
export function oldProgram(path: string): string {
  const isExe = path.toLowerCase().endsWith('.exe')
  return join(dirname(path), isExe ? 'crabtalk.old.exe' : 'crabtalk.old')
}
