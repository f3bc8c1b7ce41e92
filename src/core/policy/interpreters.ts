import {
  CONSOLES,
  FILE_CONSOLES,
  INTERPRETERS,
  RUNNERS_WITH_COMMAND,
  RUNS,
} from '../base/programs/interpreter-names.ts'
import { LAUNCHERS, SHELL_PROGRAMS } from '../base/programs/launcher-names.ts'
import { isInput, isLauncher, isUnseen, plainName, readsInput } from './inner-command.ts'

/**
 * Whether a command may read what it runs from a pipe, so that a rule for exactly these words would allow any
 * command.
 */
export function readsCommands(command: readonly string[]): boolean {
  const [name = '', ...args] = command
  const plain = plainName(name)
  const words = [plain, ...args]
  if (runsInput(words)) return true
  if (!isLauncher(plain, args)) return readsHere(words)
  const opensShell = LAUNCHERS.has(plain) && !OTHER_INPUT.test(plain) && isUnseen(words)
  return opensShell || words.some((_, i) => readsHere(words.slice(i)))
}

/** Whether a program is a shell, an interpreter, or a console that reads commands from its input. */
export function runsCode(word: string): boolean {
  const plain = plainName(word)
  return SHELL_PROGRAMS.has(plain) || INTERPRETERS.test(plain) || CONSOLES.test(plain)
}

/**
 * Whether a runner gets its input as the script, or starts a program that reads commands: `uv run -`, `docker
 * exec c sh`.
 */
function runsInput([name = '', ...args]: readonly string[]): boolean {
  const at = RUNNERS_WITH_COMMAND.test(name) ? args.findIndex((arg) => RUNS.test(arg)) : -1
  if (at < 0) return false
  const behind = args.slice(at + 1)
  const operand = behind.find((arg, i) => !/^-./.test(arg) && !WITH_WORD.test(behind[i - 1] ?? ''))
  return (operand !== undefined && isInput(operand)) || behind.some((_, i) => readsHere(behind.slice(i)))
}

function readsHere([name = '', ...args]: readonly string[]): boolean {
  const plain = plainName(name)
  if (SHELL_PROGRAMS.has(plain)) return readsInput(plain, args)
  const operands = args.filter((arg, i) => !/^-./.test(arg) && !WITH_WORD.test(args[i - 1] ?? ''))
  if (FILE_CONSOLES.test(plain)) {
    if (plain !== 'm4' && args.some((arg) => NO_INPUT.test(arg))) return false
    return operands.length === 0 || operands.some((operand) => isInput(operand))
  }
  if (CONSOLES.test(plain)) {
    if (args.some((arg) => STATEMENT.test(arg))) return false
    return !/^(sqlite|duckdb)/.test(plain) || operands.length < 2
  }
  return INTERPRETERS.test(plain) && !args.some((arg) => CODE.test(arg)) && isInput(operands[0])
}

/** Launchers that do not read shell commands, although it is unknown what they run. */
const OTHER_INPUT = /^(tmux|screen|claude|codex|opencode|gemini|aider|goose)$/

/** Interpreter options that give the code to run, or that run nothing. */
const CODE = /^-(?![WXICr])[A-Za-z]{0,3}[cefmp]|^-[vVh]$|^--(eval|print|exec|test|check|version|help)\b/

/** Console options that give the statements to run, or that run nothing. */
const STATEMENT = /^-[cf]$|^--(command|execute|eval|file|version|help)\b/

/** Options of file consoles that give what runs, or that run nothing. */
const NO_INPUT = /^-[elrvVh]$|^--(expression|help|version)\b/

/** Interpreter options that take the next word. */
const WITH_WORD = /^(-[rWXIC]|--(require|import|loader|experimental-loader))$/
