import { sep } from 'node:path'
import { INTERPRETERS } from '../base/programs/interpreter-names.ts'
import { SHELL_PROGRAMS } from '../base/programs/launcher-names.ts'
import { quoteWord } from '../base/quote-word.ts'
import { takeStart } from '../base/truncate.ts'
import { escapeMcpName } from '../config/rule-syntax.ts'
import { isLauncher, joined, plainName } from './inner-command.ts'
import { plainInner } from './inner-rules.ts'
import { readsCommands, runsCode } from './interpreters.ts'
import { type PatternContext, toPathGlob } from './path-pattern.ts'
import { isInside } from './paths.ts'
import type { PolicyAction } from './types.ts'

/**
 * Returns the narrowest rule that covers an action. Returns `bash` for a command line, whose commands have
 * their own rules.
 */
export function suggestRule(action: PolicyAction, context: PatternContext): string {
  switch (action.kind) {
    case 'read':
    case 'edit':
      return `${action.kind}(${suggestPath(action.path, context)})`
    case 'bash':
      return 'bash'
    case 'mcp':
      return suggestMcp(action)
    case 'tool':
      return action.name
  }
}

/**
 * Returns the rule for one simple command, as a user would write it: `bash(npm test *)` for `npm test -- a`.
 *
 * It is the literal line, except for the few programs whose options are all known to be harmless. Characters
 * that no rule can hold, such as a line break, become `*`.
 */
export function suggestCommand(words: readonly string[]): string {
  const prefix = findPrefix(words)
  if (prefix !== undefined) return `bash(${prefix.map(quoteWord).join(' ')} *)`
  return `bash(${words.map(suggestWord).join(' ')})`
}

/** The rule that a permission prompt may offer for a command. */
export interface CommandOffer {
  /** The lifetime of the rule; `once` when none is offered. */
  lasts: 'always' | 'session' | 'once'
  /** The reason why it lasts no longer, as a clause. */
  why?: string
}

/**
 * Returns what to offer for a command. Code for an interpreter or a shell is offered exactly as it stands, for this
 * conversation only; what other launchers start, and what is piped into a program that runs it, never (ADR 0207).
 */
export function findOffer(words: readonly string[]): CommandOffer {
  if (readsCommands(words)) return { lasts: 'once', why: `${words[0]} runs what is piped into it` }
  if (isOfferable(words)) return { lasts: 'always' }
  const [name = '', ...args] = words
  const runner = words.find(runsCode)
  if (runner === undefined) return { lasts: 'once', why: `${plainName(name)} starts any program` }
  const option = args.find((arg) => CODE_OPTION.test(arg))
  const why = `${[plainName(runner), ...(option ? [takeStart(option, MAX_OPTION)] : [])].join(' ')} runs any code`
  const isGiven = option !== undefined || (SHELL_PROGRAMS.has(plainName(name)) && args.some(isScript))
  if (runner !== name || !isGiven) return { lasts: 'once', why }
  const hasBreak = words.join('').search(UNPRINTABLE) >= 0
  return hasBreak ? { lasts: 'once', why: `${why}, and a rule is one line` } : { lasts: 'session', why }
}

/**
 * Whether a permission prompt may offer to allow a command beyond this conversation.
 *
 * Shells, interpreters and launchers need confirmation each time: their words say too little about what would run the
 * next time. A line that names a target, a script file, a module or a package is offered as it stands (ADR 0208),
 * also with variables that select no program before it.
 */
function isOfferable(words: readonly string[]): boolean {
  const [name = '', ...args] = words
  const plain = plainName(name)
  if (isNamedTask(plain, args)) return true
  const inner = name === 'env' ? plainInner(words, '') : undefined
  if (inner !== undefined) return !MAKE.test(plainName(inner[0]!)) && isOfferable(inner)
  if (isLauncher(plain, args) || MAKE.test(plain)) return false
  return findPrefix(words) !== undefined || PACKAGE_SCRIPT.test(words.join(' ')) || !words.some(runsCode)
}

/**
 * Whether a command names what it runs: `make test`, `node tools/make.js`, `python3 -m pytest`, `npx vitest`. The
 * other words must be neither options that give code or another file, nor programs that run code.
 */
function isNamedTask(plain: string, args: readonly string[]): boolean {
  if (MAKE.test(plain)) return args.every((arg) => TARGET.test(arg))
  const task = PACKAGE_RUNNERS.test(plain) ? PACKAGE : INTERPRETERS.test(plain) ? SCRIPT : undefined
  if (task === undefined || !task.test(joined(args))) return false
  return !args.some((arg) => runsCode(arg) || isLauncher(plainName(arg), []))
}

function isScript(word: string): boolean {
  return /^[\w./~-]*\w\.[A-Za-z]\w*$/.test(word)
}

/** Returns the words that identify what a command does, after which anything may follow. */
function findPrefix(words: readonly string[]): readonly string[] | undefined {
  const [name = '', ...args] = words
  if (isLauncher(plainName(name), args)) return undefined
  const lengths = [1, 2, 3].filter((length) => length <= words.length)
  const length = lengths.find((count) => PREFIXES.test(words.slice(0, count).join(' ')))
  return length === undefined ? undefined : words.slice(0, length)
}

function suggestWord(word: string): string {
  const pieces = word.split(UNPRINTABLE)
  if (pieces.length === 1) return quoteWord(word)
  return pieces.map((piece) => (piece === '' ? '' : `'${piece.replaceAll("'", "'\\''")}'`)).join('*')
}

function suggestPath(path: string, { workspace, homeDir }: PatternContext): string {
  if (isInside(workspace, path))
    return path === workspace ? '.' : suggestRelative(relativeTo(path, workspace))
  if (homeDir !== '' && isInside(homeDir, path))
    return path === homeDir ? '~' : `~/${toPathGlob(relativeTo(path, homeDir))}`
  return toPathGlob(path)
}

/** Returns a pattern relative to the workspace. Prefixes `./` to beginnings with another meaning. */
function suggestRelative(path: string): string {
  const glob = toPathGlob(path)
  return /^[~$\s]/.test(glob) ? `./${glob}` : glob
}

function relativeTo(path: string, folder: string): string {
  return path.slice(folder.endsWith(sep) ? folder.length : folder.length + 1)
}

function suggestMcp({ name, server, tool }: { name: string; server: string; tool: string }): string {
  const full = name.startsWith('mcp__') ? name : `mcp__${server}__${tool}`
  return escapeMcpName(full).replace(UNPRINTABLE, '*').replace(/\s$/, '*')
}

/**
 * Commands that may have any further words. Formatters, linters and test runners are left out: their options
 * name plugins, configuration and files to write.
 */
const PREFIXES =
  /^(mkdir|git (add|commit|checkout|switch|restore|rm|mv|tag|branch)|(npm|pnpm|yarn) test|(npm|pnpm|yarn|bun) run(-script)? [a-z][\w:-]*|docker (ps|images|logs)|(gh|glab) (pr|mr|issue|run|ci|release|repo) (view|list|status|checks|diff))$/

/** Matches a target of make, or the number of jobs. */
const TARGET = /^([A-Za-z][\w.-]*|-j\d*)$/

/** Programs that run a package by its name. */
const PACKAGE_RUNNERS = /^(npx|bunx|pnpx|uvx)$/

/** Matches arguments separated by NULs that begin with the name of a package. */
const PACKAGE = /^\0@?[A-Za-z][\w./@-]*\0/

/** Matches arguments separated by NULs that begin with a script file below a folder, a module, or the tests of Node. */
const SCRIPT =
  /^\0((run\0)?[\w./~-]*\w\.[A-Za-z]\w*|-m\0(?!(code|pdb|idlelib|IPython|ptpython)\b)[A-Za-z][\w.]*|--test)\0/

/** Matches an option that gives the code to run. */
const CODE_OPTION = /^(-[A-Za-z]{0,3}[ce]|--(eval|print|command))/

/** The most UTF-16 units of an option in a reason. */
const MAX_OPTION = 12

/** Matches make, which runs what a file in the working directory and its variables say. */
const MAKE = /^[gb]?make$/

/** The commands of bun and deno that do not run the code that follows. */
const PACKAGE_SCRIPT = /^(bun|deno) (test|fmt|lint|check|install)( |$)|^deno task [\w:-]+$/

/**
 * Control characters, the two line separators and lone surrogates. It uses ranges, which add nothing to the
 * start-up time.
 */
const UNPRINTABLE = /[^ -~\xa0-\u2027\u202a-\ud7ff\ue000-\u{10ffff}]/gu
