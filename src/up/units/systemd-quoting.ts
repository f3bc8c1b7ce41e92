/** Characters that never need quoting where systemd splits a line into words. */
const PLAIN = /^[\p{L}\p{N}_/.:=,+@-]+$/u

/**
 * Quotes a word of `Environment=`: quotes and backslashes are syntax and `%` begins a specifier, but `$` is
 * literal (systemd.exec(5), systemd.syntax(7)).
 */
export function quoteUnitWord(text: string): string {
  const escaped = escapeSpecifiers(text).replaceAll(/[\\"]/g, '\\$&')
  return PLAIN.test(text) ? text : `"${escaped}"`
}

/** Quotes an argument of `ExecStart=`, where `$` begins a variable as well (systemd.service(5)). */
export function quoteUnitArgument(text: string): string {
  return quoteUnitWord(text).replaceAll('$', '$$$$')
}

/**
 * Escapes a path for settings that have specifiers but no quoting: `WorkingDirectory=`,
 * `StandardOutput=append:`.
 */
export function escapeSpecifiers(text: string): string {
  return text.replaceAll('%', '%%')
}

/**
 * Escapes a path for `EnvironmentFile=`, which is a glob pattern: an unescaped path may not match, and the
 * secrets would be missing.
 */
export function toPattern(path: string): string {
  return escapeSpecifiers(path.replaceAll(/[\\*?[\]]/g, '\\$&'))
}
