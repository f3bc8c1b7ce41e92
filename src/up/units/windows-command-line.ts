/**
 * Joins arguments into one Windows command line that CommandLineToArgvW and the C runtime split into the same
 * words.
 *
 * Not for the program name, in which a backslash is never an escape.
 */
export function toCommandLine(args: readonly string[]): string {
  return args.map(quote).join(' ')
}

/** Quotes an argument. Backslashes are escapes only before a quote, including the closing one. */
function quote(arg: string): string {
  if (arg !== '' && !/[\s"]/.test(arg)) return arg
  return `"${arg.replaceAll(/(\\*)"/g, '$1$1\\"').replace(/\\+$/, '$&$&')}"`
}
