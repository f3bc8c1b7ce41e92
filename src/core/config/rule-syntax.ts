import { isAbsolute, parse } from 'node:path'
import { globMatcher, hasGlob, unescapeGlob } from '../base/glob.ts'
import { nearest } from '../base/nearest.ts'
import { lexShell, type ShellWord } from '../base/shell-lexer.ts'

/** What a permission rule is about, read from its text. */
export type RuleForm =
  | { about: 'everything' }
  | { about: 'read' | 'edit'; path: PathGlob | undefined }
  /** One simple command; unquoted stars match anything. */
  | { about: 'bash'; words: readonly ShellWord[] | undefined }
  /** The pieces of a full name between its stars. */
  | { about: 'mcp'; name: readonly string[] }
  | { about: 'tool'; name: string }

/** A path in a rule. */
export interface PathGlob {
  /** Where it begins: empty for the workspace, `~`, or the root of an absolute path. */
  start: string
  /** The segments without wildcards at its beginning, escapes resolved. */
  base: readonly string[]
  /** What follows; undefined when no segment has a wildcard. */
  glob: string | undefined
  /** Every segment as it is written. */
  written: readonly string[]
}

/** What is wrong with a rule. */
export interface RuleProblem {
  /** The end of a sentence. */
  predicate: string
  /** A rule that is right. */
  example: string
}

type RuleResult = { ok: true; value: RuleForm } | { ok: false; problem: RuleProblem }

/** The rule that stands for `read_only_commands = false`: commands that only read are asked about like all others. */
export const READ_ONLY_COMMANDS_RULE = 'read_only_commands'

/** Reads a rule; unicode is compared in NFC. docs/decisions/0071-permission-engine.md has the grammar. */
export function readRule(text: string): RuleResult {
  const rule = text.normalize('NFC').trim()
  if (rule === '') return wrong('is empty', 'bash(git commit *)')
  if (UNPRINTABLE.test(rule))
    return wrong('has a line break or another control character', 'bash(git commit *)')
  if (rule === '*') return right({ about: 'everything' })
  if (rule.startsWith('mcp__')) return readMcp(rule)
  const [, name = '', argument] = /^([^()]*)(?:\((.*)\))?$/s.exec(rule) ?? []
  if (name === '') return wrong(parenthesisProblem(rule), 'read(src/**)')
  const lower = name.toLowerCase()
  if (name !== lower && (GOVERNORS.has(lower) || lower === 'fetch')) {
    return wrong('must be written in lower case', GOVERNORS.get(lower)?.example ?? 'fetch')
  }
  const governor = GOVERNORS.get(name)
  if (governor === undefined) return readTool(name, argument)
  if (governor.name !== name)
    return wrong(`never matches: ${governor.name} governs ${name}`, governor.example)
  if (argument?.trim() === '')
    return wrong('has nothing in its parentheses', `${name} or ${governor.example}`)
  return governor.name === 'bash' ? readBash(argument) : readPath(governor.name, argument)
}

/** An MCP tool's name as it stands in a rule that means just this tool. */
export function escapeMcpName(name: string): string {
  return name.replace(/[\\*()]/g, '\\$&')
}

function readMcp(rule: string): RuleResult {
  const pieces = rule.match(/\\[\s\S]|[\s\S]/g) ?? []
  if (pieces.some((piece) => /^[()]$/.test(piece))) {
    return wrong('takes nothing in parentheses; one in a name is written \\(', 'mcp__fs__read_file')
  }
  if (!/^mcp__.*(\*|__.)/s.test(rule)) {
    return wrong('names a server without its tools', `mcp__${rule.split('__')[1] || 'fs'}__*`)
  }
  const name = ['']
  for (const piece of pieces) {
    if (piece === '*') name.push('')
    else name[name.length - 1] += unescapeGlob(piece)
  }
  return right({ about: 'mcp', name })
}

function readTool(name: string, argument: string | undefined): RuleResult {
  if (name.includes('*')) return wrong('has a * in a name that does not begin with mcp__', 'mcp__fs__*')
  if (!/^[A-Za-z0-9][\w-]*$/.test(name))
    return wrong('does not begin with the name of a tool', 'bash(git commit *)')
  if (argument === undefined) return right({ about: 'tool', name })
  const meant = nearest(name, WITH_ARGUMENTS)
  const example = meant === undefined ? name : `${meant}(${argument})`
  return wrong('takes nothing in parentheses; only read, edit and bash do', example)
}

function readBash(argument: string | undefined): RuleResult {
  if (argument === undefined) return right({ about: 'bash', words: undefined })
  const line = lexShell(argument, { isPattern: true })
  if ('opaque' in line) return wrong(`never matches: ${line.opaque}`, 'bash(git commit *)')
  const [words, ...others] = line.commands
  if (others.length > 0)
    return wrong('is for one command; each command of a line is judged alone', 'bash(ls *)')
  const [, prefix] = /^(.*[^\\\s]):\*$/s.exec(argument.trim()) ?? []
  const isScript = /^run(-script)?$/.test(words!.at(-2)?.text ?? '') // such names have colons
  if (prefix !== undefined && !isScript) {
    const literal = words!.length > 1 ? ` or bash(${prefix}':'*)` : ''
    return wrong('has a colon before its *', `bash(${prefix} *)${literal}`)
  }
  return right({ about: 'bash', words: words! })
}

function readPath(about: 'read' | 'edit', argument: string | undefined): RuleResult {
  if (argument === undefined) return right({ about, path: undefined })
  const bad = (predicate: string, example = 'src/**') => wrong(predicate, `${about}(${example})`)
  if (/^\s|(?<!\\)\s$/.test(argument)) return bad('begins or ends with a space')
  if (/^~[^/]/.test(argument)) return bad('has a ~ that is not followed by /', '~/notes/**')
  if (argument.startsWith('$')) return bad('has a variable, and no shell reads it', '~/notes/**')
  if (count(argument, /(?<!\\)\(/g) !== count(argument, /(?<!\\)\)/g)) return bad('has unequal parentheses')
  const path = splitPath(argument)
  if (path.glob?.split('/').includes('..')) return bad('has a .. after a wildcard')
  try {
    globMatcher(path.glob ?? '')
  } catch (reason) {
    return bad(`is no pattern: ${(reason as Error).message.replace(/^.*: /s, '')}`)
  }
  return right({ about, path })
}

function splitPath(argument: string): PathGlob {
  const isHome = /^~(\/|$)/.test(argument)
  const start = isHome ? '~' : isAbsolute(argument) ? parse(argument).root : ''
  const segments = argument.slice(start.length).split('/')
  const written = segments.filter((segment) => segment !== '' && segment !== '.')
  const first = written.findIndex(hasGlob)
  const length = first < 0 ? written.length : first
  const base = written.slice(0, length).map(unescapeGlob)
  return { start, base, glob: first < 0 ? undefined : written.slice(first).join('/'), written }
}

function parenthesisProblem(rule: string): string {
  if (rule.startsWith('(')) return 'has a parenthesis, and no tool before it'
  return rule.includes('(') ? 'has a ( without a ) at its end' : 'has a ) without a ('
}

function count(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0
}

function right(value: RuleForm): RuleResult {
  return { ok: true, value }
}

function wrong(predicate: string, example: string): RuleResult {
  return { ok: false, problem: { predicate, example } }
}

interface Governor {
  name: 'read' | 'edit' | 'bash'
  example: string
}

const READ: Governor = { name: 'read', example: 'read(~/notes/**)' }
const EDIT: Governor = { name: 'edit', example: 'edit(src/**)' }
const BASH: Governor = { name: 'bash', example: 'bash(npm run lint)' }
/** The names that rules with an argument begin with. */
const WITH_ARGUMENTS = ['read', 'edit', 'bash']
/** Tools whose rules may take an argument, and those that they speak for. */
const GOVERNORS: ReadonlyMap<string, Governor> = new Map([
  ['read', READ],
  ['grep', READ],
  ['glob', READ],
  ['edit', EDIT],
  ['write', EDIT],
  ['bash', BASH],
])

/** Control characters, the two line separators, halves of surrogate pairs: as ranges, which cost a start nothing. */
const UNPRINTABLE = /[^ -~\xa0-\u2027\u202a-\ud7ff\ue000-\u{10ffff}]/u
