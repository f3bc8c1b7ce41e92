import { posix, win32 } from 'node:path'

/** A shell's PATH and the machine it belongs to. */
export interface ShellPathContext {
  /** The PATH of the shell. */
  path: string
  platform: 'linux' | 'darwin' | 'win32'
  /** The user's home directory; empty when the system knows none. */
  homeDir: string
  /** The working directory of the shell. */
  cwd: string
  /** The system's directories for temporary files. */
  temporary: readonly string[]
  /** Whether the path is an existing directory. */
  isDirectory(path: string): boolean
  /** Whether a directory contains a program of that name. */
  hasProgram(folder: string, name: string): boolean
}

/** The PATH for services. */
export interface PathSnapshot {
  path: string
  /** The directories of the shell's PATH that are left out. */
  omitted: readonly string[]
  /**
   * A directory that comes last, although it belongs to one version of Node and disappears with it: no
   * other directory contains `node`.
   */
  versionedNode?: string
}

/**
 * Selects the part of a shell's PATH that a service can rely on (ADR 0133). It leaves out temporary
 * directories, directories of a project, and directories of one version of a language that a version manager
 * added for this shell; the version manager's shims replace the latter. It appends the usual directories for
 * a user's own programs, and those of the system.
 */
export function snapshotPath(context: ShellPathContext): PathSnapshot {
  const { isAbsolute, delimiter, normalize } = context.platform === 'win32' ? win32 : posix
  const folders = context.path
    .split(delimiter)
    .filter((folder) => isAbsolute(folder) && !/[\p{Cc}"]/u.test(folder))
    .map((folder) => normalize(folder).replace(/(?<=[^:\\/])[\\/]+$/, ''))
  const known = [...new Set(folders)]
  const transient = known.filter((folder) => isTransient(folder, context))
  const stable = known.filter((folder) => !transient.includes(folder))
  const shims = transient
    .flatMap((folder) => toStableFolders(folder))
    .filter((folder) => context.isDirectory(folder))
  const own = ownFolders(context).filter((folder) => context.isDirectory(folder))
  const all = [...new Set([...stable, ...shims, ...own, ...SYSTEM[context.platform]])]
  const versionedNode = all.some((folder) => context.hasProgram(folder, 'node'))
    ? undefined
    : nodeIn(transient, context)
  const path = [...all, ...(versionedNode === undefined ? [] : [versionedNode])].join(delimiter)
  return {
    path,
    omitted: transient.filter((folder) => folder !== versionedNode),
    ...(versionedNode !== undefined && { versionedNode }),
  }
}

/** The PATH in a service's unit and the PATH of the current shell, to be compared. */
interface PathComparison {
  /** The PATH in the unit; undefined when there is no unit. */
  before: string | undefined
  /** The result of snapshotPath() for this shell. */
  now: string
  /** The result of snapshotPath() for a shell without a PATH. */
  usual: string
  delimiter: string
  isDirectory(path: string): boolean
}

/**
 * Chooses the PATH of a running service, and lists the directories it keeps that this shell lacks. A shell
 * whose PATH is only a subset (a timer, an agent, a login over ssh) removes nothing from the service; any
 * other shell replaces the PATH. Directories that no longer exist are dropped.
 */
export function mergePaths({ before = '', now, usual, delimiter, isDirectory }: PathComparison): {
  path: string
  retained: readonly string[]
} {
  const here = new Set(now.split(delimiter))
  const there = new Set(before.split(delimiter).filter((folder) => here.has(folder) || isDirectory(folder)))
  const retained = [...there.difference(here)]
  const isLess = here.isSubsetOf(there.union(new Set(usual.split(delimiter))))
  return isLess && retained.length > 0
    ? { path: [...there.union(here)].join(delimiter), retained }
    : { path: now, retained: [] }
}

/** Whether a directory is short-lived: temporary, or tied to a project or a version. */
function isTransient(folder: string, { temporary, cwd, homeDir, platform }: ShellPathContext): boolean {
  const same = (text: string) => (platform === 'linux' ? text : text.toLowerCase()).replaceAll('\\', '/')
  const isIn = (outer: string) => outer !== '' && `${same(folder)}/`.startsWith(`${same(outer)}/`)
  const isProject = cwd !== homeDir && !isRoot(cwd) && !isInOther(homeDir, cwd) && isIn(cwd)
  return temporary.some(isIn) || isProject || TRANSIENT.some((pattern) => pattern.test(same(folder)))
}

/**
 * Whether the home directory is below the working directory: standing in /home does not make everything below
 * it a project.
 */
function isInOther(homeDir: string, cwd: string): boolean {
  return homeDir !== '' && /^[\\/]/.test(homeDir.slice(cwd.length)) && homeDir.startsWith(cwd)
}

function isRoot(path: string): boolean {
  return /^([A-Za-z]:)?[\\/]?$/.test(path)
}

/** Returns the folders that provide the same programs whichever version is in use. */
function toStableFolders(folder: string): string[] {
  const shims = /^(.*)[\\/](?:installs|versions)[\\/]/.exec(folder)?.[1]
  const fnm = /^(.*[\\/]\.?fnm)[\\/]node-versions[\\/]/.exec(folder)?.[1]
  return [
    ...(shims === undefined ? [] : [`${shims}/shims`]),
    ...(fnm === undefined ? [] : [`${fnm}/aliases/default/bin`]),
  ]
}

function nodeIn(left: readonly string[], setting: ShellPathContext): string | undefined {
  const lasting = left.filter((folder) => !setting.temporary.some((outer) => folder.startsWith(outer)))
  return lasting.find((folder) => !/node_modules/.test(folder) && setting.hasProgram(folder, 'node'))
}

/** Returns the folders in which users and installers put programs of one user. */
function ownFolders({ homeDir, platform }: ShellPathContext): string[] {
  if (homeDir === '') return []
  if (platform === 'win32') return [win32.join(homeDir, 'AppData', 'Roaming', 'npm')]
  const inHome = OWN.map((name) => posix.join(homeDir, name))
  return [...inHome, ...(platform === 'darwin' ? BREW : ['/snap/bin', '/home/linuxbrew/.linuxbrew/bin'])]
}

const TRANSIENT: readonly RegExp[] = [
  /\/node_modules\//i,
  /\/node-gyp-bin$/,
  /\/\.?venv\//,
  /\/\.(nvm|nodenv|rbenv|pyenv|goenv|asdf|n)\/(versions|installs)\//,
  /\/mise\/installs\//,
  /\/fnm_multishells\//,
  /\/\.?fnm\/node-versions\//,
  /\/nodejs?[-/]v?\d+\.\d+/i,
  /\/(Cellar|Caskroom)\//i,
  /^\/nix\/store\//,
  /\/\.(vscode|cursor)(-server|-insiders)?\//,
  /\/_npx\//,
]

const OWN = [
  '.local/bin',
  'bin',
  '.cargo/bin',
  'go/bin',
  '.bun/bin',
  '.deno/bin',
  '.volta/bin',
  '.npm-global/bin',
]
const BREW = ['/opt/homebrew/bin', '/opt/homebrew/sbin']
const UNIX = ['/usr/local/bin', '/usr/bin', '/bin', '/usr/local/sbin', '/usr/sbin', '/sbin']
const SYSTEM = { linux: UNIX, darwin: UNIX, win32: ['C:\\Windows\\System32', 'C:\\Windows'] } as const
