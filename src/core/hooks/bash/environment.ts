import { isAbsolute, join } from 'node:path'

/**
 * Turns off colors, pagers, editors and prompts, because these programs run without a terminal and a model
 * reads their output.
 */
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
 * Variables that force colors, name the previous folder of the caller's shell or search folders for `cd`, or
 * make bash and other programs parse a line differently from the permission rules.
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
 * Git settings that keep a repository from starting programs, and read-only commands from writing its index.
 * With several threads, git reads the index through a table of offsets, which checkIndex() does not check. A
 * folder that became a bare repository after the check is refused (git 2.38 and later).
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

/** The PATH for callers without one. The default of bash may begin with the working directory. */
export const DEFAULT_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/**
 * Returns the environment of a command: the caller's, so that it behaves as in the user's own shell, with the
 * settings of this file.
 */
export function commandEnv(env: Readonly<Record<string, string>>): Record<string, string> {
  const inherited = Object.entries(env).filter(([name]) => !REMOVED.has(name))
  return { PATH: DEFAULT_PATH, ...Object.fromEntries(inherited), ...SETTINGS }
}

/**
 * Returns the environment of a line of read-only commands: the few variables that such commands need, and
 * settings that keep git from starting programs that a repository names. Everything else is left out:
 * secrets, git variables, start-up files and functions of bash, library folders (a relative one would be
 * looked up in the project), and locales in which bash takes the bytes of a letter for something else.
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

/** Returns the files that git may read as the user's configuration in the environment of hardenedEnv(). */
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

/** The variables that read-only commands may need; the last ones are for Windows. */
const NEEDED: ReadonlySet<string> = new Set(
  (
    'PATH USER LOGNAME SHELL TZ SYSTEMROOT SYSTEMDRIVE WINDIR COMSPEC PATHEXT TEMP TMP USERPROFILE HOMEDRIVE HOMEPATH ' +
    'APPDATA LOCALAPPDATA PROGRAMDATA PROGRAMFILES MSYSTEM'
  ).split(' '),
)
