import { posix, win32 } from 'node:path'

/** Whose PATH, and what there is. */
export interface ShellPathContext {
  /** PATH of the shell. */
  path: string
  platform: 'linux' | 'darwin' | 'win32'
  /** The person's own directory; empty when the system knows none. */
  homeDir: string
  /** Where the shell stands. */
  cwd: string
  /** Directories for what is temporary, of this system. */
  temporary: readonly string[]
  /** Whether there is a directory of that path. */
  isDirectory(path: string): boolean
  /** Whether a program of that name is in a directory. */
  hasProgram(folder: string, name: string): boolean
}

/** The PATH of services. */
export interface PathSnapshot {
  path: string
  /** Directories of the shell's PATH that are not in it. */
  omitted: readonly string[]
  /** One of those that is in it all the same, last: Node is nowhere else, though it goes with the next version of it. */
  lent?: string
}

/**
 * What of a shell's PATH a service may rely on (services.md): no temporary directory, none of a project, none of one
 * version of a language that a version manager has put there for this shell; their shims take its place. Behind it stand the
 * directories in which people have programs of their own, and those of the system.
 */
export function snapshotPath(setting: ShellPathContext): PathSnapshot {
  const { isAbsolute, delimiter, normalize } = setting.platform === 'win32' ? win32 : posix
  const given = setting.path
    .split(delimiter)
    .filter((folder) => isAbsolute(folder) && !/[\p{Cc}"]/u.test(folder))
    .map((folder) => normalize(folder).replace(/(?<=[^:\\/])[\\/]+$/, ''))
  const known = [...new Set(given)]
  const left = known.filter((folder) => isTransient(folder, setting))
  const kept = known.filter((folder) => !left.includes(folder))
  const shims = left
    .flatMap((folder) => toStableFolders(folder))
    .filter((folder) => setting.isDirectory(folder))
  const own = ownFolders(setting).filter((folder) => setting.isDirectory(folder))
  const all = [...new Set([...kept, ...shims, ...own, ...SYSTEM[setting.platform]])]
  const lent = all.some((folder) => setting.hasProgram(folder, 'node')) ? undefined : nodeIn(left, setting)
  const path = [...all, ...(lent === undefined ? [] : [lent])].join(delimiter)
  return { path, omitted: left.filter((folder) => folder !== lent), ...(lent !== undefined && { lent }) }
}

/** Whether a directory comes and goes: with a project, a version, or by itself. */
function isTransient(folder: string, { temporary, cwd, homeDir, platform }: ShellPathContext): boolean {
  const same = (text: string) => (platform === 'linux' ? text : text.toLowerCase()).replaceAll('\\', '/')
  const isIn = (outer: string) => outer !== '' && `${same(folder)}/`.startsWith(`${same(outer)}/`)
  const isProject = cwd !== homeDir && !isRoot(cwd) && !isInOther(homeDir, cwd) && isIn(cwd)
  return temporary.some(isIn) || isProject || TRANSIENT.some((pattern) => pattern.test(same(folder)))
}

/** Whether the person's own directory is below that one: standing in /home says nothing of it. */
function isInOther(homeDir: string, cwd: string): boolean {
  return homeDir !== '' && /^[\\/]/.test(homeDir.slice(cwd.length)) && homeDir.startsWith(cwd)
}

function isRoot(path: string): boolean {
  return /^([A-Za-z]:)?[\\/]?$/.test(path)
}

/** Where the same programs are found whichever version is the one in use. */
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

/** Where people and installers put programs of one person. */
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
