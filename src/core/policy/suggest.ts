import { sep } from 'node:path'
import { quoteWord } from '../base/shell-lexer.ts'
import { escapeMcpName } from '../config/rule-syntax.ts'
import { isLauncher } from './inner-command.ts'
import { type Place, toPathGlob } from './path-pattern.ts'
import { isInside } from './paths.ts'
import type { Action } from './types.ts'
import { findWideCommand } from './wide-rules.ts'

/** The narrowest rule that covers an action; `bash` for a command line, whose commands have rules of their own. */
export function suggestRule(action: Action, place: Place): string {
  switch (action.kind) {
    case 'read':
    case 'edit':
      return `${action.kind}(${suggestPath(action.path, place)})`
    case 'bash':
      return 'bash'
    case 'mcp':
      return suggestMcp(action)
    case 'tool':
      return action.name
  }
}

/**
 * The rule for one simple command, as its author would write it: `bash(npm test *)` for `npm test -- a`.
 *
 * The literal line where more would be nearly anything (interpreters, launchers), or where nothing is known of the program.
 * What no rule can hold, a line break say, becomes a `*`.
 */
export function suggestCommand(words: readonly string[]): string {
  const prefix = prefixOf(words)
  if (prefix !== undefined) return `bash(${prefix.map(quoteWord).join(' ')} *)`
  return `bash(${words.map(suggestWord).join(' ')})`
}

/** The words that say what a command does, where anything may follow. */
function prefixOf([name = '', ...args]: readonly string[]): readonly string[] | undefined {
  const sub = args.slice(
    0,
    /^run(-script)?$/.test(args[0] ?? '') && /^(npm|pnpm|yarn|bun)$/.test(name) ? 2 : 1,
  )
  const isSub = sub.length > 0 && sub.every((word) => /^[a-z][\w:-]*$/.test(word))
  const prefix = PLAIN_PROGRAMS.has(name) ? [name] : PROGRAMS.has(name) && isSub ? [name, ...sub] : undefined
  if (prefix === undefined || sub.at(-1) === 'run' || isLauncher(name, args)) return undefined
  return findWideCommand(prefix) === undefined ? prefix : undefined
}

function suggestWord(word: string): string {
  const pieces = word.split(UNPRINTABLE)
  if (pieces.length === 1) return quoteWord(word)
  return pieces.map((piece) => (piece === '' ? '' : `'${piece.replaceAll("'", "'\\''")}'`)).join('*')
}

function suggestPath(path: string, { workspace, homeDir }: Place): string {
  if (isInside(workspace, path)) return path === workspace ? '.' : suggestRelative(cut(path, workspace))
  if (homeDir !== '' && isInside(homeDir, path))
    return path === homeDir ? '~' : `~/${toPathGlob(cut(path, homeDir))}`
  return toPathGlob(path)
}

/** Beginnings that would mean something else. */
function suggestRelative(path: string): string {
  const glob = toPathGlob(path)
  return /^[~$\s]/.test(glob) ? `./${glob}` : glob
}

function cut(path: string, folder: string): string {
  return path.slice(folder.endsWith(sep) ? folder.length : folder.length + 1)
}

function suggestMcp({ name, server, tool }: { name: string; server: string; tool: string }): string {
  const full = name.startsWith('mcp__') ? name : `mcp__${server}__${tool}`
  return escapeMcpName(full).replace(UNPRINTABLE, '*').replace(/\s$/, '*')
}

/** Programs whose first word says what they do. */
const PROGRAMS: ReadonlySet<string> = new Set(
  'git npm pnpm yarn bun cargo go docker podman kubectl gh glab dotnet terraform systemctl'.split(' '),
)

/** Programs that check, build or format, whatever their words are. */
const PLAIN_PROGRAMS: ReadonlySet<string> = new Set(
  'tsc eslint biome prettier oxlint stylelint vitest jest mocha ava pytest ruff mypy black flake8 isort gofmt rustfmt mkdir'.split(
    ' ',
  ),
)

/** Control characters, the two line separators, halves of surrogate pairs: as ranges, which cost a start nothing. */
const UNPRINTABLE = /[^ -~\xa0-\u2027\u202a-\ud7ff\ue000-\u{10ffff}]/gu
