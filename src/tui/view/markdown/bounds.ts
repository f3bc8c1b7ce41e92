/**
 * The maximum nesting of quotes and lists in a line passed to the parser; its stack and time grow with the
 * depth.
 */
const MAX_DEPTH = 16

/** The maximum length of a text passed to the parser: some of its rules take quadratic time. */
const MAX_CHARS = 40_000

/** Whether the parser can handle a text in reasonable time and within its stack. */
export function isTame(text: string): boolean {
  if (text.length > MAX_CHARS) return false
  return !TOO_DEEP.test(text)
}

const TOO_DEEP = new RegExp(`^ *(?:(?:>|[-+*](?= )|\\d{1,9}[.)](?= )) *){${MAX_DEPTH}}`, 'm')
