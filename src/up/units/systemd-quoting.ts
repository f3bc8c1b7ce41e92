/** Characters that systemd takes as they are, wherever it splits a line into words. */
const PLAIN = /^[\p{L}\p{N}_/.:=,+@-]+$/u

/**
 * A word of `Environment=`, where quotes and backslashes are taken off and `%` is a specifier, but `$` is nothing
 * (systemd.exec(5), systemd.syntax(7)).
 */
export function quoteUnitWord(text: string): string {
  const escaped = escapeSpecifiers(text).replaceAll(/[\\"]/g, '\\$&')
  return PLAIN.test(text) ? text : `"${escaped}"`
}

/** An argument of `ExecStart=`: a word in which `$` begins a variable too (systemd.service(5)). */
export function quoteUnitArgument(text: string): string {
  return quoteUnitWord(text).replaceAll('$', '$$$$')
}

/** A path where there are no quotes and no escapes, only specifiers: `WorkingDirectory=`, `StandardOutput=append:`. */
export function escapeSpecifiers(text: string): string {
  return text.replaceAll('%', '%%')
}

/** The path of `EnvironmentFile=`, which is a pattern as well: what does not match is not there, and secrets are missing. */
export function toPattern(path: string): string {
  return escapeSpecifiers(path.replaceAll(/[\\*?[\]]/g, '\\$&'))
}
