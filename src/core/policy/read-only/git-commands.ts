import { type CommandSpec, type ParsedArguments, parseCommandOptions } from './command-spec.ts'
import type { FormReader, ReadOnlyForm } from './read-only-form.ts'

/**
 * Reads the arguments of git, for subcommands that only read.
 *
 * Options of git itself (`-c`, `-C`, `--git-dir`, `--exec-path`) may start anything and are unknown, except
 * `--no-pager`. `--no-index`, `--output`, `--ext-diff` and `--textconv` are unknown, too.
 */
export const parseGitCommand: FormReader = (args) => {
  const [name = '', ...rest] = args[0] === '--no-pager' ? args.slice(1) : args
  const sub = name === 'stash' || name === 'worktree' ? `${name} ${rest.shift()}` : name
  const command = Object.hasOwn(COMMANDS, sub) ? COMMANDS[sub] : undefined
  const read = command && parseCommandOptions(rest, command.spec)
  if (!read || read.operands.some((word) => word.startsWith(':')) || rest.some(asksGpg)) return undefined
  const more = command.read(read)
  if (more === undefined) return undefined
  return { name: `git ${sub}`, paths: read.words, git: 'history', isHardened: true, ...more }
}

/**
 * Whether a format or a sort order makes git verify a signature, which runs a program that the configuration
 * names.
 */
function asksGpg(word: string): boolean {
  return /%G|%\(signature|^(--sort=)?-?signature/i.test(word)
}

interface GitCommand {
  spec: CommandSpec
  /** Returns the form of a call with these arguments; undefined when the call does more than read. */
  read(parsed: ParsedArguments): Partial<ReadOnlyForm> | undefined
}

const DIFF: CommandSpec = {
  short: 'pusRwbazM',
  attached: 'USG',
  long:
    'stat shortstat numstat name-only name-status cached staged patch raw summary check color no-color no-ext-diff ' +
    'no-textconv minimal patience histogram exit-code quiet merge-base no-renames ignore-all-space ' +
    'ignore-space-change ignore-space-at-eol ignore-blank-lines ignore-cr-at-eol function-context text no-prefix compact-summary',
  longAttached:
    'word-diff color-words relative stat find-renames find-copies unified diff-filter color diff-algorithm inter-hunk-context abbrev',
}

const LOG: CommandSpec = {
  short: `${DIFF.short}icg`,
  valued: 'n',
  attached: DIFF.attached!,
  long:
    `${DIFF.long} oneline graph all abbrev-commit no-abbrev-commit decorate no-decorate merges no-merges reverse follow ` +
    'first-parent branches tags remotes date-order topo-order author-date-order no-patch full-history simplify-by-decoration ' +
    'no-notes no-show-signature cherry-pick left-right left-only right-only boundary pickaxe-regex regexp-ignore-case all-match',
  longValued: 'max-count skip since until after before author committer grep',
  longAttached: `${DIFF.longAttached} decorate date branches tags remotes format pretty`,
  hasDigits: true,
}

const REFS: CommandSpec = {
  short: 'arvil',
  long: 'list all remotes verbose ignore-case show-current no-color omit-empty',
  longValued: 'sort',
  longAttached: 'color column abbrev points-at contains no-contains merged no-merged',
}

const COMMANDS: Readonly<Record<string, GitCommand>> = {
  status: {
    spec: {
      short: 'sbz',
      attached: 'u',
      long: 'short branch long show-stash ahead-behind no-ahead-behind renames no-renames null',
      longAttached: 'porcelain untracked-files ignored column',
    },
    read: () => ({ git: 'worktree' }),
  },
  diff: {
    spec: DIFF,
    read: ({ options }) => ({ git: 'worktree', isRecursive: !isSummary(options) }),
  },
  log: { spec: LOG, read: ({ options }) => ({ isRecursive: showsPatches(options) }) },
  show: { spec: LOG, read: () => ({ isRecursive: true }) }, // for a file it shows the content even with --stat
  blame: {
    spec: {
      short: 'wesltfnM',
      valued: 'L',
      long: 'show-email line-porcelain porcelain',
      longAttached: 'date abbrev',
    },
    read: () => ({ git: 'worktree' }),
  },
  branch: { spec: REFS, read: (parsed) => listing(parsed, '--list') },
  tag: { spec: { ...REFS, short: 'lin', attached: 'n' }, read: (parsed) => listing(parsed, '--list', '-l') },
  remote: {
    spec: { short: 'v', long: 'verbose' },
    read: ({ operands: [verb, name, ...more] }) => {
      return verb === undefined || (verb === 'get-url' && name !== undefined && more.length === 0)
        ? {}
        : undefined
    },
  },
  'rev-parse': {
    spec: {
      short: 'q',
      long:
        'show-toplevel verify quiet git-dir is-inside-work-tree is-bare-repository show-prefix show-cdup ' +
        'symbolic-full-name abbrev-ref is-shallow-repository absolute-git-dir git-common-dir',
      longAttached: 'short abbrev-ref',
    },
    read: () => ({}),
  },
  'ls-files': {
    spec: {
      short: 'cdmoskuzt',
      valued: 'x',
      long: 'cached deleted modified others stage killed unmerged exclude-standard error-unmatch full-name directory deduplicate',
      longValued: 'exclude',
      longAttached: 'abbrev',
    },
    read: () => ({ git: 'worktree' }),
  },
  'ls-tree': {
    spec: { short: 'drtlz', long: 'name-only name-status full-name full-tree long', longAttached: 'abbrev' },
    read: () => ({}),
  },
  describe: {
    spec: {
      long: 'tags all always long exact-match first-parent contains',
      longAttached: 'abbrev',
      longValued: 'match exclude candidates',
    },
    read: () => ({}),
  },
  'stash list': {
    spec: { valued: 'n', long: 'oneline', hasDigits: true },
    read: ({ operands }) => atMost(operands, 0),
  },
  'worktree list': {
    spec: { short: 'vz', long: 'porcelain verbose' },
    read: ({ operands }) => atMost(operands, 0),
  },
}

/** Accepts a listing. A name without one of these options would create a branch or a tag. */
function listing(
  { options, operands }: ParsedArguments,
  ...lists: string[]
): Partial<ReadOnlyForm> | undefined {
  const isListing = [...lists, '--contains', '--merged', '--no-merged', '--points-at', '--no-contains'].some(
    (option) => options.has(option),
  )
  return isListing || operands.length === 0 ? {} : undefined
}

function atMost(operands: readonly string[], max: number): Partial<ReadOnlyForm> | undefined {
  return operands.length <= max ? {} : undefined
}

function showsPatches(options: ReadonlySet<string>): boolean {
  return PATCHES.some((option) => options.has(option))
}

function isSummary(options: ReadonlySet<string>): boolean {
  const hasSummary = ['--stat', '--shortstat', '--numstat', '--name-only', '--name-status', '--quiet'].some(
    (option) => options.has(option),
  )
  return hasSummary && !showsPatches(options)
}

const PATCHES = [
  '-p',
  '-u',
  '-U',
  '--patch',
  '--unified',
  '--word-diff',
  '--color-words',
  '--function-context',
  '--check',
  '-c',
  '-S',
  '-G',
]
