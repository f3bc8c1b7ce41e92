/** Whether a variable with this name may decide which programs run, or what input they get. */
export function selectsPrograms(name: string): boolean {
  return POWERFUL.test(name)
}

/**
 * Whether setting a variable before a command changes only how that command reports or behaves, so that a rule for
 * the command covers it. The value must not be a path, because programs load files that NODE_ENV or LANG name.
 */
export function isHarmlessSetting(name: string, value: string): boolean {
  return HARMLESS.test(name) && (name === 'TZ' ? TIME_ZONE : PLAIN).test(value)
}

/** Variables that decide which programs run, or that some programs read as commands or options. */
const POWERFUL =
  /^(LD_.*|DYLD_.*|BASH.*|GIT_.*|ENV|IFS|PS\d|SHELLOPTS|PERL5.*|RUBYLIB|npm_.*|.*(PATH|HOME|COMMAND|SHELL|PAGER|EDITOR|VISUAL|BROWSER|OPT|OPTS|OPTIONS|OPEN|CLOSE|FLAGS|WRAPPER|STARTUP|RSH|PRELOAD|ASKPASS))$/i

const HARMLESS =
  /^(CI|NODE_ENV|NODE_NO_WARNINGS|FORCE_COLOR|NO_COLOR|CLICOLOR(_FORCE)?|CARGO_TERM_COLOR|PY_COLORS|TERM|COLUMNS|LINES|DEBUG|VERBOSE|LOG_LEVEL|RUST_LOG|RUST_BACKTRACE|PYTHONUNBUFFERED|PYTHONDONTWRITEBYTECODE|PYTHONHASHSEED|LANG|LC_[A-Z]+|TZ|PORT)$/

const PLAIN = /^[\w.,:@*+=-]*$/
const TIME_ZONE = /^([\w+-]+(\/[\w+-]+)*)?$/
