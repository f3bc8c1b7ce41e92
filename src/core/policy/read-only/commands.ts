import { type CommandSpec, parseCommandOptions } from './command-spec.ts'
import { readFind } from './find.ts'
import { parseGitCommand } from './git-commands.ts'
import {
  readCd,
  readDate,
  readDiff,
  readGrep,
  readJq,
  readPrintf,
  readRipgrep,
  readSed,
  readTest,
} from './own-forms.ts'
import { type FormReader, withoutInput } from './read-only-form.ts'

/**
 * The commands that are known to change nothing, each with its allowed options.
 *
 * An option is left out when it writes (`sort -o`), starts a program (`rg --pre`, `tar -I`), reads file names
 * from a file (`wc --files0-from`), follows links below a folder (`grep -R`), reads a file that the project
 * may have replaced with a link (`tree --gitignore`), or never ends (`tail -f`, `seq inf`). Commands that are
 * scripts (`egrep`, `shasum`, `npm`) are left out because they start what PATH or a variable names.
 * `--version` of possible shims (`node`, `python3`) is left out because a shim runs or downloads the version
 * that a project names.
 */
export const READ_ONLY_COMMANDS: ReadonlyMap<string, FormReader> = new Map<string, FormReader>([
  ...fileCommands({
    cat: {
      short: 'AbeEnstTuv',
      long: 'number number-nonblank show-all show-ends show-nonprinting show-tabs squeeze-blank',
    },
    tac: {},
    rev: {},
    ...Object.fromEntries(
      ['head', 'tail'].map((name) => [
        name,
        {
          short: 'qvz',
          valued: 'nc',
          long: 'quiet silent verbose zero-terminated',
          longValued: 'lines bytes',
          hasDigits: true,
        },
      ]),
    ),
    wc: { short: 'clmwL', long: 'bytes chars lines words max-line-length' },
    sort: {
      short: 'bdfgiMhnRrVcCmsuz',
      valued: 'kt',
      long:
        'reverse numeric-sort unique ignore-case human-numeric-sort version-sort general-numeric-sort stable check ' +
        'zero-terminated ignore-leading-blanks dictionary-order month-sort random-sort',
      longValued: 'key field-separator',
    },
    cut: {
      short: 'sz',
      valued: 'dfcb',
      long: 'complement only-delimited zero-terminated',
      longValued: 'delimiter fields characters bytes output-delimiter',
    },
    paste: { short: 'sz', valued: 'd', long: 'serial', longValued: 'delimiters' },
    nl: { short: 'p', valued: 'bdfhilnsvw' },
    stat: { short: 'Lt', valued: 'c', long: 'dereference terse', longValued: 'format printf' },
    file: { short: 'biLhN', long: 'brief mime mime-type mime-encoding dereference no-dereference' },
    df: { short: 'ahHiklTP', long: 'human-readable inodes all local print-type portability' },
    du: {
      short: 'abchkmsSx0',
      valued: 'd',
      long: 'all human-readable summarize total bytes apparent-size si one-file-system null',
      longValued: 'max-depth exclude',
    },
    ls: {
      short: 'aAbBcCdfFgGhiklmnNopqQrRsStuUvxXZ1',
      long:
        'all almost-all human-readable recursive reverse size directory classify group-directories-first full-time ' +
        'inode numeric-uid-gid no-group si author',
      longValued: 'ignore hide',
      longAttached: 'color sort time format time-style classify indicator-style',
    },
    tree: {
      short: 'adfxpsughDFqNQvtcUriASnCXJ',
      valued: 'LPI',
      long: 'dirsfirst noreport du si prune matchdirs ignore-case inodes device',
    },
    realpath: {
      short: 'emqszLP',
      long: 'canonicalize-existing canonicalize-missing no-symlinks strip quiet zero',
    },
    readlink: {
      short: 'femnqsvz',
      long: 'canonicalize canonicalize-existing canonicalize-missing no-newline quiet',
    },
    ...Object.fromEntries(
      ['md5sum', 'sha1sum', 'sha224sum', 'sha256sum', 'sha384sum', 'sha512sum', 'b2sum'].map((name) => {
        return [name, { short: 'btz', long: 'binary text tag zero' }]
      }),
    ),
  }),
  ['uniq', files('uniq', { short: 'cdDiuz', valued: 'fsw', long: 'count repeated unique ignore-case' }, 1)],
  ['comm', files('comm', { short: '123z', long: 'total zero-terminated check-order nocheck-order' }, 2)],
  ['cmp', files('cmp', { short: 'bls', valued: 'ni', long: 'quiet silent verbose print-bytes' }, 2)],
  ['diff', readDiff],
  ['grep', readGrep],
  ['rg', readRipgrep],
  ['jq', readJq],
  ['sed', readSed],
  ['find', readFind],
  ['git', parseGitCommand],
  ['cd', readCd],
  ['test', (args) => readTest('test', args)],
  ['[', (args) => (args.at(-1) === ']' ? readTest('[', args.slice(0, -1)) : undefined)],
  ['date', readDate],
  ['tr', text('tr', { short: 'cCdst', long: 'delete squeeze-repeats complement truncate-set1' })],
  ['basename', text('basename', { short: 'az', valued: 's', long: 'multiple zero', longValued: 'suffix' })],
  ['dirname', text('dirname', { short: 'z', long: 'zero' })],
  ['pwd', none('pwd', { short: 'LP' })],
  ['whoami', none('whoami', {})],
  ['uname', none('uname', { short: 'amnoprsv', long: 'all' })],
  ['nproc', none('nproc', { long: 'all' })],
  ['which', names('which', { short: 'as' })],
  ['type', names('type', { short: 'aftpP' })],
  ['command', (args) => (args[0] === '-v' ? names('command -v', {})(args.slice(1)) : undefined)],
  ['echo', anything('echo')],
  ['printf', readPrintf],
  ...['true', 'false', ':'].map((name): [string, FormReader] => [name, anything(name)]),
])

function fileCommands(specs: Readonly<Record<string, CommandSpec>>): [string, FormReader][] {
  return Object.entries(specs).map(([name, spec]) => [name, files(name, spec)])
}

/**
 * Reads a command whose operands are all paths. With more than `max` operands the command does something
 * else: `uniq` writes to the second file.
 */
function files(name: string, spec: CommandSpec, max = Number.POSITIVE_INFINITY): FormReader {
  return (args) => {
    const read = parseCommandOptions(args, spec)
    if (read === undefined || read.words.length > max) return undefined
    if (read.words.some((word) => word.startsWith('+'))) return undefined // `tail +1f x` never ends
    const paths = withoutInput(read.words)
    return {
      name,
      paths,
      ...(Number.isFinite(max) && { hasFewPaths: true }),
      ...(LISTING.has(name) && { readsFolder: true }),
    }
  }
}

/** Reads a command whose arguments are plain text. */
function anything(name: string): FormReader {
  return () => ({ name, paths: [] })
}

/** Reads a command whose operands are not paths. */
function text(name: string, spec: CommandSpec): FormReader {
  return (args) => parseCommandOptions(args, spec) && { name, paths: [] }
}

function none(name: string, spec: CommandSpec): FormReader {
  return (args) => (parseCommandOptions(args, spec)?.operands.length === 0 ? { name, paths: [] } : undefined)
}

/** Reads a command whose operands are names of programs. */
function names(name: string, spec: CommandSpec): FormReader {
  return (args) => {
    const read = parseCommandOptions(args, spec)
    return read?.operands.every((word) => !word.includes('/')) ? { name, paths: [] } : undefined
  }
}

/** The commands that list the working directory when they have no operands. */
const LISTING: ReadonlySet<string> = new Set(['ls', 'du', 'tree', 'df'])
