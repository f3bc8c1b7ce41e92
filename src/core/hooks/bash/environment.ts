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

/** What would ask for colours all the same, and where the caller's shell came from. */
const REMOVED: ReadonlySet<string> = new Set(['COLORTERM', 'FORCE_COLOR', 'CLICOLOR_FORCE', 'OLDPWD'])

/** The environment of a command: the caller's, so that it meets what a person's shell would, and settings of our own. */
export function commandEnv(env: Readonly<Record<string, string>>): Record<string, string> {
  const kept = Object.entries(env).filter(([name]) => !REMOVED.has(name))
  return { ...Object.fromEntries(kept), ...SETTINGS }
}
