/**
 * Arguments as one Windows command line that CommandLineToArgvW and the C runtime split into the same words.
 *
 * Not for the name of the program itself, in which a backslash is never an escape.
 */
export function toCommandLine(args: readonly string[]): string {
  return args.map(quote).join(' ')
}

/** Backslashes mean something before a quote only, and the closing one is such a quote. */
function quote(arg: string): string {
  if (arg !== '' && !/[\s"]/.test(arg)) return arg
  return `"${arg.replaceAll(/(\\*)"/g, '$1$1\\"').replace(/\\+$/, '$&$&')}"`
}
