import { isAbsolute, parse } from 'node:path'
import { globMatcher, hasGlob, unescapeGlob } from '../base/glob.ts'
import { nearest } from '../base/nearest.ts'
import { lexShell, type ShellWord } from '../base/shell-lexer.ts'

/** The parsed form of a permission rule. */
export type RuleForm =
  | { about: 'everything' }
  | { about: 'read' | 'edit'; path: PathGlob | undefined }
  /** One simple command, in which unquoted stars match anything. */
  | { about: 'bash'; words: readonly ShellWord[] | undefined }
  /** The pieces of a full tool name between its stars. */
  | { about: 'mcp'; name: readonly string[] }
  | { about: 'tool'; name: string }

/** A path in a rule. */
export interface PathGlob {
  /** The starting point: empty for the workspace, `~`, or the root of an absolute path. */
  start: string
  /** The leading segments without wildcards, with escapes resolved. */
  base: readonly string[]
  /** The rest of the path; undefined when no segment has a wildcard. */
  glob: string | undefined
  /** Every segment as written. */
  written: readonly string[]
}

/** The problem with a rule. */
export interface RuleProblem {
  /** The problem, as the end of a sentence. */
  predicate: string
  /** A correct rule. */
  example: string
}

type RuleResult = { ok: true; value: RuleForm } | { ok: false; problem: RuleProblem }

/**
 * The rule that represents `read_only_commands = false`, which makes read-only commands ask like all others.
 */
export const READ_ONLY_COMMANDS_RULE = 'read_only_commands'

/** Parses a rule. Unicode is compared in NFC. ADR 0071 has the grammar. */
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
    return wrong(`never matches: rules for ${governor.name} apply to ${name}`, governor.example)
  if (argument?.trim() === '') return wrong('has empty parentheses', `${name} or ${governor.example}`)
  return governor.name === 'bash' ? readBash(argument) : readPath(governor.name, argument)
}

/** Escapes an MCP tool's name, so that a rule matches exactly this tool. */
export function escapeMcpName(name: string): string {
  return name.replace(/[\\*()]/g, '\\$&')
}

function readMcp(rule: string): RuleResult {
  const pieces = rule.match(/\\[\s\S]|[\s\S]/g) ?? []
  if (pieces.some((piece) => /^[()]$/.test(piece))) {
    return wrong('takes nothing in parentheses; write a parenthesis in a name as \\(', 'mcp__fs__read_file')
  }
  if (!/^mcp__.*(\*|__.)/s.test(rule)) {
    return wrong('names a server but no tools', `mcp__${rule.split('__')[1] || 'fs'}__*`)
  }
  const name = ['']
  for (const piece of pieces) {
    if (piece === '*') name.push('')
    else name[name.length - 1] += unescapeGlob(piece)
  }
  return right({ about: 'mcp', name })
}

function readTool(name: string, argument: string | undefined): RuleResult {
  if (name.includes('*')) return wrong('has a * in a name that does not start with mcp__', 'mcp__fs__*')
  if (!/^[A-Za-z0-9][\w-]*$/.test(name))
    return wrong('does not start with the name of a tool', 'bash(git commit *)')
  if (argument === undefined) return right({ about: 'tool', name })
  const suggestion = nearest(name, WITH_ARGUMENTS)
  const example = suggestion === undefined ? name : `${suggestion}(${argument})`
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
  const isScript = /^run(-script)?$/.test(words!.at(-2)?.text ?? '') // npm scripts have colons in their names
  if (prefix !== undefined && !isScript) {
    const literal = words!.length > 1 ? ` or bash(${prefix}':'*)` : ''
    return wrong('has a colon before its *', `bash(${prefix} *)${literal}`)
  }
  return right({ about: 'bash', words: words! })
}

function readPath(about: 'read' | 'edit', argument: string | undefined): RuleResult {
  if (argument === undefined) return right({ about, path: undefined })
  const bad = (predicate: string, example = 'src/**') => wrong(predicate, `${about}(${example})`)
  if (/^\s|(?<!\\)\s$/.test(argument)) return bad('starts or ends with a space')
  if (/^~[^/]/.test(argument)) return bad('has a ~ that is not followed by /', '~/notes/**')
  if (argument.startsWith('$')) return bad('has a variable, which is not expanded', '~/notes/**')
  if (count(argument, /(?<!\\)\(/g) !== count(argument, /(?<!\\)\)/g))
    return bad('has unbalanced parentheses')
  const path = splitPath(argument)
  if (path.glob?.split('/').includes('..')) return bad('has a .. after a wildcard')
  try {
    globMatcher(path.glob ?? '')
  } catch (reason) {
    return bad(`is not a valid pattern: ${(reason as Error).message.replace(/^.*: /s, '')}`)
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
  if (rule.startsWith('(')) return 'has a parenthesis without a tool before it'
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
/** The tool names that rules with an argument begin with. */
const WITH_ARGUMENTS = ['read', 'edit', 'bash']
/** Tools whose rules may take an argument, and the tools that those rules cover. */
const GOVERNORS: ReadonlyMap<string, Governor> = new Map([
  ['read', READ],
  ['grep', READ],
  ['glob', READ],
  ['edit', EDIT],
  ['write', EDIT],
  ['bash', BASH],
])

/**
 * Control characters, the two line separators and lone surrogates. It uses ranges, which add nothing to the
 * start-up time.
 */
const UNPRINTABLE = /[^ -~\xa0-\u2027\u202a-\ud7ff\ue000-\u{10ffff}]/u
