import { toVisible } from '../../core/base/visible.ts'
import type { PermissionRequest } from '../../core/protocol/crabtalk.generated.ts'
import { paint, type TextStyle } from '../view/style.ts'
import { truncateText } from '../view/text.ts'
import { describeChoice, listPermissionChoices } from './choices.ts'
import { factRows, quoteRows } from './rows.ts'
import { escapeLine, expandDiffTabs, formatArguments, toSubject } from './subject.ts'
import type { AskCard } from './types.ts'

interface Content {
  card: AskCard
  request: PermissionRequest
  /** Everything is shown, with what the choices do. */
  hasDetails: boolean
  /** The rules are listed, because the choices cannot name them. */
  hasRules: boolean
}

interface QuoteStyle {
  columns: number
  color: boolean
}

/** Renders the action and the reasons of a permission as rows; nothing is left out. */
export function contentRows(
  { card, request, hasDetails, hasRules }: Content,
  quoting: QuoteStyle,
): readonly string[] {
  const { what } = toSubject(request)
  const { cwd, diff, reason, warnings, arguments: args } = request
  const shown = toVisible(what)
  const all = toVisible(formatArguments(args))
  const fact = (name: string, text: string) => factRows(name, escapeLine(text), quoting)
  const line = quoteRows(shown, quoting)
  const commands = commandRows(request, quoting)
  return [
    ...(line.length > MOST_LINE_FIRST ? [...commands, ...line] : [...line, ...commands]),
    ...(cwd === '' ? [] : fact('in', cwd)),
    ...(reason === '' ? [] : fact('why', reason)),
    ...warnings.flatMap((one) => fact('risk', one)),
    ...(hasRules || hasDetails ? ruleRows(request, card, quoting) : []),
    ...(diff === ''
      ? []
      : quoteRows(toVisible(stripDiffHeader(expandDiffTabs(diff), what)), { ...quoting, tint })),
    ...(hasDetails && all !== shown ? ['  with', ...quoteRows(all, quoting)] : []),
    ...(hasDetails ? helpRows(card, quoting) : []),
  ]
}

/** The rules that the choices 2 and 3 would make, and the file of 3. */
function ruleRows({ rules }: PermissionRequest, { agent }: AskCard, quoting: QuoteStyle): string[] {
  if (rules.length === 0) return []
  const named = rules.flatMap((rule) => factRows('rule', escapeLine(rule), quoting))
  return [...named, ...factRows('3 in', escapeLine(`agents/${agent}.toml`), quoting)]
}

/** Rows of a command line that may come before the list of its commands. */
const MOST_LINE_FIRST = 4

/** Each command of a line of several on a row of its own, cut where it is too long, and which of them are asked about. */
function commandRows({ commands }: PermissionRequest, { columns, color }: QuoteStyle): string[] {
  if (commands.length < 2) return []
  return commands.map(({ text, asks }) => {
    const name = paint(asks ? 'asks ' : 'ok   ', color, asks ? 'warning' : 'dim')
    return `  ${name} ${truncateText(escapeLine(text), Math.max(4, columns - COMMAND_MARGIN))}`
  })
}

const COMMAND_MARGIN = 10

function helpRows(card: AskCard, quoting: QuoteStyle): string[] {
  const choices = listPermissionChoices(card.ask.questions[0]!)
  const keys = choices.flatMap((one) =>
    factRows(`${one.digit}`, escapeLine(describeChoice(one, card.agent)), quoting),
  )
  return ['', ...keys, ...factRows('Ctrl+C', 'stops the agent', quoting)]
}

/** A diff whose first two lines only name the file that is named above it, without them. */
function stripDiffHeader(diff: string, path: string): string {
  const head = `--- ${path}\n+++ ${path}\n`
  return diff.startsWith(head) ? diff.slice(head.length) : diff
}

/** The first two lines of a diff name the file. */
function tint(line: string, at: number): TextStyle | undefined {
  return at < 2 && /^(---|\+\+\+) /.test(line) ? 'dim' : TINTS.get(line.slice(0, 1))
}

const TINTS: ReadonlyMap<string, TextStyle> = new Map<string, TextStyle>([
  ['+', 'added'],
  ['-', 'removed'],
  ['@', 'accent'],
])
