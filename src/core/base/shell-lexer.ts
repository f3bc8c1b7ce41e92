import { findDeceptive } from './deceptive-text.ts'
import { isHarmlessSetting, selectsPrograms } from './programs/variable-names.ts'
import { readDocument } from './shell-heredoc.ts'

/** One word of a shell command, with quotes and escapes resolved. */
export interface ShellWord {
  text: string
  /** `text`, split at every unquoted `*`. */
  parts: readonly string[]
  /** The index in `text` of the first unquoted `*`, `?` or `[`; absent when there is none. */
  globAt?: number
}

/**
 * A shell line as the simple commands it runs, in order; or the reason why these cannot be determined, as a
 * clause.
 */
export type ShellLine = { commands: readonly (readonly ShellWord[])[] } | { opaque: string }

/**
 * Splits a line for sh or bash into the simple commands that `;` `&&` `||` `|` `|&` `&` and newlines join.
 *
 * A line is opaque when it contains anything else that is special to a shell, or that sh and bash read
 * differently (ADR 0071). Quotes, escapes, comments, `2>&1` and redirections from or to /dev/null are
 * understood; globs in arguments stay as written. Of the variables set before a command, those without an
 * effect on what runs are left out; a command with others that select no program begins with `env` (ADR 0207).
 * `"$(cat <<'EOF' …)"` is its text. `isPattern`: a `*` may also be in the command's name, and nothing is set.
 * `isLenient`, for restricting rules only: skips what cannot hide a command's name (redirected files,
 * harmless `NAME=value` before a command), and puts UNQUOTED_VALUE or QUOTED_VALUE in place of parameters in
 * arguments.
 */
export function lexShell(line: string, { isPattern = false, isLenient = false } = {}): ShellLine {
  try {
    refuseUnreadable(line)
    const commands = readCommands(new Cursor(line, isLenient))
    return { commands: commands.map((words) => toCommand(words, { isPattern, isLenient })) }
  } catch (reason) {
    if (reason instanceof Opaque) return { opaque: reason.message }
    throw reason
  }
}

/**
 * The value of an unquoted parameter in a word, which may expand to several words or none. The character
 * never occurs in a line.
 */
export const UNQUOTED_VALUE = '\x01'
/** The value of a quoted parameter in a word. The character never occurs in a line. */
export const QUOTED_VALUE = '\x02'

/** Ends lexing early; the message is the reason why a line is opaque. */
class Opaque extends Error {}

/** A word that distinguishes quoted from unquoted characters: `bare` holds a NUL for each quoted piece. */
interface RawWord extends ShellWord {
  bare: string
}

/** A word that is still being read. */
type OpenWord = RawWord & { parts: string[] }

function refuseUnreadable(line: string): void {
  if (line.length > MAX_LINE) throw new Opaque('it is longer than 16,384 characters')
  if (!line.isWellFormed()) throw new Opaque('it is not well-formed Unicode')
  if (CONTROL.test(line)) throw new Opaque('it has a control character')
  if (findDeceptive(line.replaceAll(VARIATION_SELECTORS, '')) !== undefined)
    throw new Opaque('it has a character that is invisible or looks like another one')
}

/** Variation selectors are allowed: emoji need them, and they cannot hide a program. */
const VARIATION_SELECTORS = /[\ufe00-\ufe0f]/g

function readCommands(cursor: Cursor): RawWord[][] {
  const commands: RawWord[][] = []
  let words: RawWord[] = []
  let isRedirected = false
  let joined = ''
  while (!cursor.isAtEnd) {
    if (cursor.take(BLANK) || skipComment(cursor)) continue
    if (cursor.take(HARMLESS_REDIRECTION) || (cursor.isLenient && skipRedirection(cursor))) {
      isRedirected = true
      continue
    }
    const operator = cursor.take(OPERATOR)
    if (operator === '') {
      words.push(readWord(cursor))
    } else if (words.length > 0) {
      commands.push(words)
      words = []
      isRedirected = false
      joined = operator
    } else if (operator !== '\n' || isRedirected) {
      throw new Opaque(`it has "${operator.trim()}" where a command should be`)
    }
  }
  if (words.length > 0) return [...commands, words]
  if (isRedirected || ['&&', '||', '|', '|&'].includes(joined))
    throw new Opaque('its last command is missing')
  if (commands.length === 0) throw new Opaque('it has no command')
  return commands
}

/**
 * Skips a comment. All shells agree on comments, but a backslash at the end makes readers believe that the
 * comment continues.
 */
function skipComment(cursor: Cursor): boolean {
  const comment = cursor.take(COMMENT)
  if (comment.endsWith('\\')) throw new Opaque('it has a comment that ends with a backslash')
  return comment !== ''
}

function skipRedirection(cursor: Cursor): boolean {
  if (!cursor.take(FILE_REDIRECTION)) return false
  const { text, bare } = readWord(cursor)
  if (/[*?[\]]/.test(bare) || hasValue(text) || /^\/+dev\/+(tcp|udp)\//.test(text)) {
    throw new Opaque('it has a redirection')
  }
  return true
}

/** Returns the name of the variable that a word before a command sets; undefined for other words. */
function findVariable({ bare }: RawWord): string | undefined {
  return /^([A-Za-z_]\w*)=/.exec(bare)?.[1]
}

/** Whether a text contains the value of a parameter. */
function hasValue(text: string): boolean {
  return text.includes(UNQUOTED_VALUE) || text.includes(QUOTED_VALUE)
}

function readWord(cursor: Cursor): RawWord {
  const word: OpenWord = { text: '', parts: [''], bare: '' }
  while (!cursor.isAtEnd && !cursor.peek(WORD_END)) {
    if (cursor.peek(REDIRECTION)) {
      if (word.bare === '' || /^\d+$|\}$/.test(word.text)) throw new Opaque(describeRedirection(cursor))
      break
    }
    readPiece(cursor, word)
  }
  if (word.bare === '') throw new Opaque('it has an operator that shells read differently')
  if (/(^|[=:])~/.test(word.bare)) throw new Opaque('it has a ~ that the shell expands')
  if (word.bare.includes('{') && /,|\.\./.test(word.text)) throw new Opaque('it has a brace expansion')
  return word
}

function readPiece(cursor: Cursor, word: OpenWord): void {
  if (cursor.take(CONTINUATION)) return
  const document = cursor.takeDocument()
  if (document !== undefined) {
    addTo(word, document, '\0')
    word.parts[word.parts.length - 1] += document
    return
  }
  if (cursor.take(STAR)) {
    addTo(word, '*', '*')
    word.parts.push('')
    return
  }
  const plain = cursor.take(PLAIN)
  const quoted = plain === '' ? cursor.take(QUOTED) || (cursor.isLenient ? readValue(cursor) : '') : ''
  if (plain === '' && quoted === '') throw new Opaque(reasonAt(cursor))
  const text = plain || unquote(quoted)
  addTo(word, text, plain || '\0')
  word.parts[word.parts.length - 1] += text
}

/** Reads a parameter, or a quoted text that contains some, into the form that unquote() reads. */
function readValue(cursor: Cursor): string {
  if (cursor.take(PARAMETER)) return `"${UNQUOTED_VALUE}"`
  return cursor
    .take(QUOTED_VALUES)
    .replace(VALUES, (all, name?: string) => (name === undefined ? all : QUOTED_VALUE))
}

/** Describes a redirection, by the file that it writes if that has a plain name: `cat > a.txt <<'EOF'`. */
function describeRedirection(cursor: Cursor): string {
  const [, file] = /(?:>>?|>\|)[ \t]*([\w@%+=:,./-]+)$/.exec(cursor.take(WRITING)) ?? []
  return file === undefined ? 'it has a redirection' : `it writes ${file}`
}

function addTo(word: OpenWord, text: string, bare: string): void {
  const glob = word.globAt === undefined ? bare.search(/[*?[]/) : -1
  if (glob >= 0) word.globAt = word.text.length + glob
  word.text += text
  word.bare += bare
}

function unquote(piece: string): string {
  if (piece.startsWith("'")) return piece.slice(1, -1)
  if (piece.startsWith('\\')) return piece.slice(1)
  return piece.slice(1, -1).replace(/\\([\\"$`\n])/g, (_, char: string) => (char === '\n' ? '' : char))
}

/** Describes the character at which no word can continue. */
function reasonAt(cursor: Cursor): string {
  const [, reason] = MEANINGS.find(([pattern]) => cursor.peek(pattern))!
  return `it has ${reason}`
}

/** Returns a command without the variables set before it, or with those that it may read as words of `env`. */
function toCommand(
  words: readonly RawWord[],
  { isPattern, isLenient }: { isPattern: boolean; isLenient: boolean },
): readonly ShellWord[] {
  const count = isPattern ? 0 : words.findIndex((word) => findVariable(word) === undefined)
  const [settings, command] = count < 0 ? [words, []] : [words.slice(0, count), words.slice(count)]
  const read = settings.filter((word) => {
    const name = findVariable(word)!
    if (command.length === 0) throw new Opaque(`it sets ${name} for later commands`)
    if (selectsPrograms(name) || hasValue(word.text)) throw new Opaque(`it sets ${name} before a command`)
    return !isLenient && !isHarmlessSetting(name, word.text.slice(name.length + 1))
  })
  checkCommand(command, isPattern)
  return read.length === 0 ? command : [ENV, ...read, ...command]
}

/** The program that sets variables as the shell does before a command. */
const ENV: ShellWord = { text: 'env', parts: ['env'] }

function checkCommand(words: readonly ShellWord[], isPattern: boolean): void {
  const [name, ...args] = words as readonly RawWord[]
  const { text, bare } = name!
  const globs = isPattern ? /[?[\]]/ : /[*?[\]]/
  if (text === '') throw new Opaque('it has a command without a name')
  if (hasValue(text)) throw new Opaque('it has a parameter expansion in the name of a command')
  if (text.includes('=')) throw new Opaque('it sets a variable before a command')
  if (KEYWORDS.has(text) || /[{}]/.test(bare)) throw new Opaque(`it has the shell's own word "${text}"`)
  if (text !== '[' && globs.test(bare)) throw new Opaque('it has a wildcard in the name of a command')
  const run = words.find((word) => text !== 'command' || !/^(-.*|command)$/s.test(word.text))?.text ?? text
  if (BUILTINS.has(run)) throw new Opaque(`"${run}" changes what the shell does`)
  if (text.startsWith('%')) throw new Opaque('it has a job instead of a command')
  const isEvaluated =
    EVALUATING.has(text) && args.some((word) => /^-[vR]|\w\[/.test(word.text) || hasValue(word.text))
  if (isEvaluated) throw new Opaque(`"${text}" may evaluate its arguments`)
}

/** A position in a line that advances by sticky patterns. */
class Cursor {
  readonly isLenient: boolean
  #at = 0
  readonly #line: string

  constructor(line: string, isLenient: boolean) {
    this.#line = line
    this.isLenient = isLenient
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#line.length
  }

  peek(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at
    return pattern.test(this.#line)
  }

  /** Returns the text of a word such as `"$(cat <<'EOF' …)"` at the current position, and advances past it. */
  takeDocument(): string | undefined {
    const found = readDocument(this.#line, this.#at)
    this.#at += found?.length ?? 0
    return found?.text
  }

  /** Returns the match at the current position, or an empty text, and advances past it. */
  take(pattern: RegExp): string {
    pattern.lastIndex = this.#at
    const [match = ''] = pattern.exec(this.#line) ?? []
    this.#at += match.length
    return match
  }
}

/**
 * The maximum length of a line. Comparing rules with all its commands, and with what they may start, takes
 * tens of milliseconds at this length.
 */
const MAX_LINE = 16_384

const CONTROL = /[^\t\n -~\xa0-\uffff]/

const BLANK = /(?:[ \t]|\\\n)+/y
const COMMENT = /#[^\n]*/y
const CONTINUATION = /\\\n/y
/** The lookahead requires the end of a word, since `2>&10` and `>/dev/nullx` mean something else. */
const HARMLESS_REDIRECTION = /(?:[0-2]?>&[12]|[0-2]?(?:>>?|<)[ \t]*\/dev\/null)(?=[ \t\n;&|]|$)/y
/** A redirection from or to one file, whose name follows. */
const FILE_REDIRECTION = /[0-2]?(?:>>?|<)[ \t]*(?![ \t<>&|(])/y
/**
 * `&>` is excluded, also with a line continuation in between: it redirects in bash and is two operators in
 * sh.
 */
const OPERATOR = /&&|\|\||\|&|[;|\n]|&(?!>|\\\n)/y
/** A redirection into a file with a plain name, also after a here-document. */
const WRITING =
  /(?:<<-?[ \t]*\\?['"]?\w+['"]?[ \t]*)?1?>[>|]?[ \t]*(?!\/dev\/)[\w@%+=:,./-]+(?=[ \t\n;&|<]|$)/y
const WORD_END = /[ \t\n;&|]/y
const REDIRECTION = /[<>]/y
const PLAIN = /[^ \t\n;&|<>()$`'"\\*]+/y
const STAR = /\*/y
const QUOTED = /'[^']*'|"[^"\\$`]*(?:\\[\s\S][^"\\$`]*)*"|\\[\s\S]/y
const PARAMETER = /\$(?:[A-Za-z_]\w*|\{[A-Za-z_]\w*\})/y
const QUOTED_VALUES = /"(?:[^"\\$`]|\\[\s\S]|\$(?:[A-Za-z_]\w*|\{[A-Za-z_]\w*\}))*"/y
/** The first alternative skips escapes. */
const VALUES = /\\[\s\S]|\$([A-Za-z_]\w*|\{[A-Za-z_]\w*\})/g

/** The reasons in order of precedence; the last one matches anything. */
const MEANINGS: readonly [RegExp, string][] = [
  [/"[^"\\$`]*(?:\\[\s\S][^"\\$`]*)*`|`/y, 'a command substitution'],
  [/(?:"[^"\\$`]*(?:\\[\s\S][^"\\$`]*)*)?\$\(\(/y, 'an arithmetic expansion'],
  [/(?:"[^"\\$`]*(?:\\[\s\S][^"\\$`]*)*)?\$\(/y, 'a command substitution'],
  [/\$['"]/y, "a $'…' string"],
  [/(?:"[^"\\$`]*(?:\\[\s\S][^"\\$`]*)*)?\$/y, 'a parameter expansion'],
  [/["']/y, 'a quote that is not closed'],
  [/\\/y, 'a backslash at its end'],
  [/[\s\S]/y, 'a parenthesis'],
]

/**
 * Reserved words of sh and bash. They are refused even when quoted, although they would then name a program:
 * such programs do not occur in practice.
 */
const KEYWORDS: ReadonlySet<string> = new Set(
  '! { } [[ ]] case coproc do done elif else esac fi for function if in select then time until while'.split(
    ' ',
  ),
)

/** Builtins that run their arguments as a line, or change the names, variables or options of later commands. */
const BUILTINS: ReadonlySet<string> = new Set(
  (
    '. alias bind builtin compgen complete compopt declare enable eval exec export fc getopts hash let local mapfile ' +
    'read readarray readonly set shopt source trap typeset unalias unset'
  ).split(' '),
)

/** Commands that evaluate an argument such as the array element `a[$(…)]`, in bash or in another shell. */
const EVALUATING: ReadonlySet<string> = new Set(['[', 'test', 'printf', 'wait'])
