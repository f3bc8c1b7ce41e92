import { CONSOLES, INTERPRETERS } from '../base/programs/interpreter-names.ts'
import { LAUNCHERS, SHELLS } from '../base/programs/launcher-names.ts'
import { isInput, isLauncher, isUnseen, plainName, readsInput } from './inner-command.ts'

/** Whether a command may take what it runs from a pipe, so that a rule for just these words means any command. */
export function readsCommands(command: readonly string[]): boolean {
  const [name = '', ...args] = command
  const plain = plainName(name)
  const words = [plain, ...args]
  if (!isLauncher(plain, args)) return readsHere(words)
  const opensShell = LAUNCHERS.has(plain) && !OTHER_INPUT.test(plain) && isUnseen(words)
  return opensShell || words.some((_, i) => readsHere(words.slice(i)))
}

/** Whether it is a shell, an interpreter, or a program that takes their commands from its input. */
export function runsCode(word: string): boolean {
  const plain = plainName(word)
  return SHELLS.has(plain) || INTERPRETERS.test(plain) || CONSOLES.test(plain)
}

function readsHere([name = '', ...args]: readonly string[]): boolean {
  const plain = plainName(name)
  if (SHELLS.has(plain)) return readsInput(plain, args)
  const operands = args.filter((arg, i) => !/^-./.test(arg) && !WITH_WORD.test(args[i - 1] ?? ''))
  if (CONSOLES.test(plain)) {
    if (args.some((arg) => STATEMENT.test(arg))) return false
    return !/^(sqlite|duckdb)/.test(plain) || operands.length < 2
  }
  return INTERPRETERS.test(plain) && !args.some((arg) => CODE.test(arg)) && isInput(operands[0])
}

/** Launchers that read no shell commands, though what they run is not to be seen. */
const OTHER_INPUT = /^(tmux|screen|claude|codex|opencode|gemini|aider|goose)$/

/** Options of interpreters that say what runs, or that run nothing. */
const CODE = /^-(?![WXICr])[A-Za-z]{0,3}[cefmp]|^-[vVh]$|^--(eval|print|exec|test|check|version|help)\b/

/** Options of consoles that say what runs, or that run nothing. */
const STATEMENT = /^-[cf]$|^--(command|execute|eval|file|version|help)\b/

/** Options of interpreters that take the next word. */
const WITH_WORD = /^(-[rWXIC]|--(require|import|loader|experimental-loader))$/
