import { isAbsolute, join } from 'node:path'

/** For programs that nobody answers and whose output a model reads: no colours, no pagers, no editors, no questions. */
const SETTINGS = {
  TERM: 'dumb',
  NO_COLOR: '1',
  PAGER: 'cat',
  GIT_PAGER: 'cat',
  MANPAGER: 'cat',
  GIT_EDITOR: 'true',
  GIT_TERMINAL_PROMPT: '0',
} as const

/**
 * The variables that ask for colours, name the folder that the caller's shell came from or other folders for `cd`, or make
 * bash and other programs read a line in another way than the rules do.
 */
const REMOVED: ReadonlySet<string> = new Set([
  'COLORTERM',
  'FORCE_COLOR',
  'CLICOLOR_FORCE',
  'OLDPWD',
  'CDPATH',
  'POSIXLY_CORRECT',
  'POSIX_PEDANTIC',
  'BASHOPTS',
  'SHELLOPTS',
  'GLOBIGNORE',
  'GREP_OPTIONS',
])

/**
 * Settings of git that keep a repository from starting programs, and reading commands from writing its index. With several
 * threads git reads the index by a table of offsets, which checkIndex() does not look at. A folder that became a bare
 * repository after it was looked at is refused (git 2.38 and later).
 */
const GIT_CONFIG = [
  'core.fsmonitor=false',
  'core.hooksPath=/dev/null',
  'diff.autoRefreshIndex=false',
  'diff.submodule=short',
  'index.threads=1',
  'log.showSignature=false',
  'protocol.allow=never',
  'safe.bareRepository=explicit',
  'status.submoduleSummary=false',
]

const HARDENED = {
  GIT_CONFIG_PARAMETERS: GIT_CONFIG.map((setting) => `'${setting}'`).join(' '),
  GIT_OPTIONAL_LOCKS: '0',
  GIT_NO_LAZY_FETCH: '1',
} as const

/** The PATH for callers without one. The default of bash may begin in the working directory. */
export const DEFAULT_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** The environment of a command: the caller's, so that it meets what a person's shell would, and settings of our own. */
export function commandEnv(env: Readonly<Record<string, string>>): Record<string, string> {
  const kept = Object.entries(env).filter(([name]) => !REMOVED.has(name))
  return { PATH: DEFAULT_PATH, ...Object.fromEntries(kept), ...SETTINGS }
}

/**
 * The environment of a line of commands that only read: the few variables that such commands need, and settings that keep
 * git from starting what a repository names. Everything else is left out: secrets, variables of git, start-up files and
 * functions of bash, folders of libraries (one that is not absolute is looked for in the project), locales in which bash
 * takes the bytes of a letter for something else.
 */
export function hardenedEnv(env: Readonly<Record<string, string>>): Record<string, string> {
  const needed = Object.entries(env).filter(([name, value]) => {
    if (/^(LANG|LANGUAGE|LC_\w+)$/.test(name))
      return /^(C|POSIX)?$|utf-?8/i.test(value) || name === 'LANGUAGE'
    if (/^(HOME|TMPDIR|XDG_CONFIG_HOME|LOCALE_ARCHIVE)$/.test(name)) return isAbsolute(value)
    return NEEDED.has(name.toUpperCase())
  })
  return { ...commandEnv(Object.fromEntries(needed)), ...HARDENED }
}

/** Returns the files that git may read as the configuration of the user, in the environment of hardenedEnv(). */
export function gitConfigFiles(env: Readonly<Record<string, string>>): string[] {
  const { HOME, XDG_CONFIG_HOME, USERPROFILE } = hardenedEnv(env)
  const homes = [HOME, USERPROFILE].filter((home) => home !== undefined)
  const folders = [
    ...homes.map((home) => join(home, '.config')),
    ...(XDG_CONFIG_HOME ? [XDG_CONFIG_HOME] : []),
  ]
  return [
    ...homes.map((home) => join(home, '.gitconfig')),
    ...folders.map((folder) => join(folder, 'git/config')),
  ]
}

/** Variables that commands which only read may need, the last ones on Windows. */
const NEEDED: ReadonlySet<string> = new Set(
  (
    'PATH USER LOGNAME SHELL TZ SYSTEMROOT SYSTEMDRIVE WINDIR COMSPEC PATHEXT TEMP TMP USERPROFILE HOMEDRIVE HOMEPATH ' +
    'APPDATA LOCALAPPDATA PROGRAMDATA PROGRAMFILES MSYSTEM'
  ).split(' '),
)
