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
 * What would ask for colours all the same, where the caller's shell came from, other folders for `cd`, and what has bash
 * and other programs read a line in another way than the rules do.
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

/** Settings of git that keep a repository from starting programs, and reading commands from writing its index. */
const GIT_CONFIG = [
  'core.fsmonitor=false',
  'core.hooksPath=/dev/null',
  'diff.autoRefreshIndex=false',
  'diff.submodule=short',
  'log.showSignature=false',
  'protocol.allow=never',
]

const HARDENED = {
  GIT_CONFIG_PARAMETERS: GIT_CONFIG.map((setting) => `'${setting}'`).join(' '),
  GIT_OPTIONAL_LOCKS: '0',
  GIT_NO_LAZY_FETCH: '1',
} as const

/** For callers without a PATH, since what bash takes then may begin in the working directory. */
export const DEFAULT_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** The environment of a command: the caller's, so that it meets what a person's shell would, and settings of our own. */
export function commandEnv(env: Readonly<Record<string, string>>): Record<string, string> {
  const kept = Object.entries(env).filter(([name]) => !REMOVED.has(name))
  return { PATH: DEFAULT_PATH, ...Object.fromEntries(kept), ...SETTINGS }
}

/**
 * The environment of a line of commands that only read: as commandEnv(), without what would have them do more. Git starts
 * nothing that a repository names, rg reads no options from a file, and bash has no functions and start-up file.
 */
export function hardenedEnv(env: Readonly<Record<string, string>>): Record<string, string> {
  const harmless = Object.entries(env).filter(
    ([name]) => !/^(GIT_.*|BASH_.*|ENV|RIPGREP_CONFIG_PATH)$/.test(name),
  )
  return { ...commandEnv(Object.fromEntries(harmless)), ...HARDENED }
}
