/** Deepest nesting of quotes and lists in one line that the parser is given; its stack and its time grow with it. */
const MAX_DEPTH = 16

/** Longest text that the parser is given at once: some of its rules take quadratic time. */
const MAX_CHARS = 40_000

/** Whether the parser handles a text in reasonable time and within its stack. */
export function isTame(text: string): boolean {
  if (text.length > MAX_CHARS) return false
  return !TOO_DEEP.test(text)
}

const TOO_DEEP = new RegExp(`^ *(?:(?:>|[-+*](?= )|\\d{1,9}[.)](?= )) *){${MAX_DEPTH}}`, 'm')
