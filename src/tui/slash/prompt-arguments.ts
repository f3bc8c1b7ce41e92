/** The parsed arguments of a prompt. `problem` is a clause that describes invalid input. */
export interface PromptArguments {
  args: Record<string, string>
  problem?: string
}

/**
 * Parses the text after a prompt's name: `name=value` words, with quotes around values that contain spaces.
 * Words without a name fill the remaining arguments in order, and the last one takes the rest of the text.
 */
export function readPromptArguments(text: string, blanks: readonly { name: string }[]): PromptArguments {
  const args: Record<string, string> = {}
  const known = new Set(blanks.map(({ name }) => name))
  let rest = text.trim()
  while (rest !== '') {
    const named = NAMED.exec(rest)
    if (named && known.has(named[1]!)) {
      args[named[1]!] = unquoted(named[2]!)
      rest = rest.slice(named[0].length).trimStart()
      continue
    }
    const [next, ...more] = blanks.filter(({ name }) => !Object.hasOwn(args, name))
    if (!next) return { args, problem: `"${rest}" is too much` }
    const [word] = WORD.exec(rest)!
    args[next.name] = unquoted(more.length === 0 ? untilNamed(rest, known) : word)
    rest = rest.slice(more.length === 0 ? untilNamed(rest, known).length : word.length).trimStart()
  }
  return { args }
}

/** Returns the text up to the next word that names an argument. */
function untilNamed(text: string, known: ReadonlySet<string>): string {
  for (const { index, 1: name } of text.matchAll(/(?<=\s)([^\s=]+)=/g)) {
    if (known.has(name!)) return text.slice(0, index).trimEnd()
  }
  return text
}

function unquoted(text: string): string {
  const [, inner] = /^"((?:[^"\\]|\\.)*)"$/s.exec(text) ?? []
  return inner === undefined ? text : inner.replaceAll(/\\(["\\])/g, '$1')
}

const WORD = /^(?:"(?:[^"\\]|\\.)*"|\S+)/s
const NAMED = /^([^\s=]+)=("(?:[^"\\]|\\.)*"(?=\s|$)|\S*)/s
