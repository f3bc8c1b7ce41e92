import { type CommandSpec, parseCommandOptions } from './command-spec.ts'
import { type ReadOnlyForm, withoutInput } from './read-only-form.ts'

/** Reads the arguments of diff, which compares folders file by file and follows the links in them. */
export function readDiff(args: readonly string[]): ReadOnlyForm | undefined {
  const read = parseCommandOptions(args, DIFF)
  if (read === undefined || read.operands.length > 2) return undefined
  return { name: 'diff', paths: withoutInput(read.words), isFilesOnly: true, hasFewPaths: true }
}

/** Reads the arguments of grep. `-R` and `-f` are unknown. */
export function readGrep(args: readonly string[]): ReadOnlyForm | undefined {
  const read = parseCommandOptions(args, GREP)
  if (read === undefined) return undefined
  const { options, words } = read
  const hasPattern = options.has('-e') || options.has('--regexp')
  const paths = withoutInput(hasPattern ? words : words.slice(1))
  const isRecursive = options.has('-r') || options.has('--recursive')
  return { name: 'grep', paths, isRecursive }
}

/** Reads the arguments of rg. `--pre`, `--search-zip`, `-f`, `--follow` and `--no-config` are unknown. */
export function readRipgrep(args: readonly string[]): ReadOnlyForm | undefined {
  const read = parseCommandOptions(args, RIPGREP)
  if (read === undefined) return undefined
  const { options, words } = read
  const hasPattern = ['-e', '--regexp', '--files', '--type-list'].some((option) => options.has(option))
  const paths = withoutInput(hasPattern ? words : words.slice(1))
  return { name: 'rg', paths, isRecursive: true, isHardened: true }
}

/**
 * Reads the arguments of jq. Refuses programs that could read the environment or modules from other folders,
 * or never end.
 */
export function readJq(args: readonly string[]): ReadOnlyForm | undefined {
  const [program = '', ...paths] = parseCommandOptions(args, JQ)?.words ?? []
  if (program === '' || JQ_UNKNOWN.test(program)) return undefined
  return { name: 'jq', paths }
}

/**
 * Reads the arguments of `sed -n` with a script that only prints lines. Other scripts can write files and run
 * commands.
 */
export function readSed(args: readonly string[]): ReadOnlyForm | undefined {
  const read = parseCommandOptions(args, { short: 'n', long: 'quiet silent' })
  const [script = '', ...paths] = read?.words ?? []
  if (read?.options.size === 0 || !/^((\d+|\$)(,(\+?\d+|\$))?p;?\s*)+$/.test(script)) return undefined
  return { name: 'sed -n', paths: withoutInput(paths) }
}

/** Reads the arguments of cd: one folder. */
export function readCd(args: readonly string[]): ReadOnlyForm | undefined {
  const [folder = '', ...others] = args
  if (folder === '' || folder.startsWith('-') || others.length > 0) return undefined
  return { name: 'cd', paths: [folder], changesTo: folder, hasFewPaths: true }
}

/**
 * Reads the arguments of test, with operators that evaluate nothing. `-v` and `-R` are unknown because they
 * run command substitutions in the subscript of a name.
 */
export function readTest(name: string, args: readonly string[]): ReadOnlyForm | undefined {
  if (args.some((word) => /^-[A-Za-z]+$/.test(word) && !TEST_OPERATORS.has(word))) return undefined
  const isPath = (word: string) =>
    word !== '' && !TEST_OPERATORS.has(word) && !/^(!|=|==|!=|<|>|\(|\)|-?\d+)$/.test(word)
  return { name, paths: args.filter(isPath) }
}

const TEST_OPERATORS: ReadonlySet<string> = new Set(
  '-a -b -c -d -e -f -g -h -k -n -o -p -r -s -t -u -w -x -z -G -L -N -O -S -ef -eq -ge -gt -le -lt -ne -nt -ot'.split(
    ' ',
  ),
)

/**
 * Reads the arguments of printf. Refuses `-v` and `%n`, which assign variables such as PATH; `%(…)T`, which
 * reads a variable; and large widths, which take time and memory.
 */
export function readPrintf(args: readonly string[]): ReadOnlyForm | undefined {
  const [format = ''] = args
  const isPlain = /^(?!-)(?:[^%]|%[-+ 0#]*\d{0,4}(?:\.\d{1,4})?[%bcdeEfFgGioqsuxX])*$/.test(format)
  return isPlain ? { name: 'printf', paths: [] } : undefined
}

/**
 * Reads the arguments of date. Refuses an operand that is not a format, which sets the clock, and `TZ="…"`,
 * which names a file.
 */
export function readDate(args: readonly string[]): ReadOnlyForm | undefined {
  const read = parseCommandOptions(args, DATE)
  if (args.some((word) => /TZ/i.test(word))) return undefined
  return read?.operands.every((word) => word.startsWith('+')) ? { name: 'date', paths: [] } : undefined
}

const DATE: CommandSpec = {
  short: 'uR',
  valued: 'd',
  attached: 'I',
  long: 'utc universal rfc-email',
  longValued: 'date',
  longAttached: 'iso-8601 rfc-3339',
}

const DIFF: CommandSpec = {
  short: 'abBdEiNpqstTuwyZ',
  valued: 'UCWI',
  long:
    'brief report-identical-files ignore-case ignore-all-space ignore-blank-lines ignore-space-change side-by-side ' +
    'minimal text suppress-common-lines strip-trailing-cr new-file',
  longValued: 'label width',
  longAttached: 'color unified context',
}

const GREP: CommandSpec = {
  short: 'aEFGHhIiLlnoPqrsUvwxyZzbcT',
  valued: 'eABCm',
  long:
    'recursive ignore-case line-number files-with-matches files-without-match count only-matching invert-match ' +
    'word-regexp line-regexp extended-regexp fixed-strings perl-regexp basic-regexp no-filename with-filename ' +
    'no-messages quiet silent text null byte-offset initial-tab',
  longValued: 'regexp after-context before-context max-count include exclude exclude-dir',
  longAttached: 'context color colour', // `--context` of BSD does not take the next word
  hasDigits: true,
}

const RIPGREP: CommandSpec = {
  short: 'aciFHhIlnNoPpqsSUuvwx0.',
  valued: 'eABCmgtTMrdE',
  long:
    'files hidden no-hidden no-ignore no-ignore-vcs ignore-case smart-case case-sensitive fixed-strings word-regexp ' +
    'line-regexp line-number no-line-number files-with-matches files-without-match count count-matches only-matching ' +
    'invert-match multiline multiline-dotall pcre2 heading no-heading with-filename no-filename json vimgrep column ' +
    'trim stats quiet no-messages text null type-list pretty unrestricted',
  longValued:
    'regexp after-context before-context context max-count glob iglob type type-not max-columns max-depth sort sortr ' +
    'replace max-filesize encoding color colors',
}

const JQ_UNKNOWN = /env|\b(import|include|modulemeta|get_search_list|def|repeat|recurse|range|until|while)\b/i

const JQ: CommandSpec = {
  short: 'rcnesSCMajR',
  long:
    'raw-output compact-output null-input exit-status slurp sort-keys color-output monochrome-output ascii-output ' +
    'join-output tab raw-input',
}
