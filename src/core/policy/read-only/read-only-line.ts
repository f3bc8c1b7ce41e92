import { lexShell } from '../../base/shell-lexer.ts'
import { READ_ONLY_COMMANDS } from './commands.ts'

/**
 * Whether every command of a line is one that is known to change nothing, as far as its words tell: the files that
 * it reads and the programs that PATH finds are not examined, which `analyzeLine()` does before it permits a line.
 */
export function isReadOnlyLine(line: string): boolean {
  const lexed = lexShell(line)
  if ('opaque' in lexed) return false
  return lexed.commands.every((words) => {
    const [program = '', ...args] = words.map(({ text }) => text)
    return READ_ONLY_COMMANDS.get(program)?.(args) !== undefined
  })
}
