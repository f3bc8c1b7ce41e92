import { escapeLine, toVisible } from '../../core/base/visible.ts'
import type { PermissionRequest } from '../../core/protocol/crabtalk.generated.ts'
import { describeChoice, listPermissionChoices } from '../../core/questions/choices.ts'
import { expandDiffTabs, formatArguments, toSubject } from '../../core/questions/subject.ts'
import { paint, type TextStyle } from '../view/style.ts'
import { truncateText, wrapLines } from '../view/text.ts'
import { renderDiff } from '../view/tool/diff.ts'
import { readWholeDiff } from '../view/tool/diff-lines.ts'
import type { Highlight } from '../view/view.ts'
import { BAR, factRows, quoteRows } from './rows.ts'
import type { AskCard } from './types.ts'

interface Content {
  card: AskCard
  request: PermissionRequest
  /** Whether everything is shown, including what the choices do. */
  hasDetails: boolean
  /** Whether the rules are listed, because the choices have no space to name them. */
  hasRules: boolean
}

interface QuoteStyle {
  columns: number
  color: boolean
  highlight?: Highlight | undefined
}

/** Renders the action and the reasons of a permission; nothing is left out. */
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
    ...(line.length > MAX_COMMAND_ROWS ? [...commands, ...line] : [...line, ...commands]),
    ...(cwd === '' ? [] : fact('in', cwd)),
    ...(reason === '' || hasReasons(request) ? [] : fact('why', reason)),
    ...warnings.flatMap((one) => fact('risk', one)),
    ...(hasRules || hasDetails ? ruleRows(request, card, quoting) : []),
    ...(diff === '' ? [] : diffRows(toVisible(expandDiffTabs(diff)), shown, quoting)),
    ...(hasDetails && all !== shown ? ['  with', ...quoteRows(all, quoting)] : []),
    ...(hasDetails ? helpRows(card, quoting) : []),
  ]
}

/** Renders the rules that choices 2 and 3 would create, and the file of choice 3. */
function ruleRows({ rules }: PermissionRequest, { agent, ask }: AskCard, quoting: QuoteStyle): string[] {
  if (rules.length === 0) return []
  const named = rules.flatMap((rule) => factRows('rule', escapeLine(rule), quoting))
  const isSavable = listPermissionChoices(ask.questions[0]!).some(({ lasts }) => lasts === 'always')
  if (!isSavable) return named
  return [...named, ...factRows('saved', escapeLine(`in agents/${agent}.toml`), quoting)]
}

/** The maximum rows of a command line that is shown before the list of its commands. */
const MAX_COMMAND_ROWS = 4

/**
 * Renders each command of a compound command line on its own row, truncated to fit, and marks those that need
 * permission.
 */
function commandRows({ commands }: PermissionRequest, { columns, color }: QuoteStyle): string[] {
  if (commands.length < 2) return []
  return commands.flatMap(({ text, asks, reason }) => {
    const name = paint(asks ? 'asks ' : 'ok   ', color, asks ? 'warning' : 'dim')
    const row = `  ${name} ${truncateText(escapeLine(text), Math.max(4, columns - COMMAND_MARGIN))}`
    return reason === '' ? [row] : [row, ...reasonRows(reason, { columns, color })]
  })
}

/** Renders the reason below the part of a line that needs permission. */
function reasonRows(reason: string, { columns, color }: QuoteStyle): string[] {
  const lead = columns < MIN_LABELED ? '        └ ' : '        └ asks because: '
  const rows = wrapLines(escapeLine(reason), Math.max(8, columns - lead.length))
  return rows.map((row, at) => paint(`${at === 0 ? lead : ' '.repeat(lead.length)}${row}`, color, 'dim'))
}

const COMMAND_MARGIN = 10
/** Narrower terminals show a reason without its label. */
const MIN_LABELED = 60

/** Whether each part that needs permission says why itself. */
function hasReasons({ commands }: PermissionRequest): boolean {
  return commands.length > 1 && commands.some(({ reason }) => reason !== '')
}

/** The width of the column of keys: `Ctrl+C` and two blanks. */
const KEY_WIDTH = 8

function helpRows(card: AskCard, quoting: QuoteStyle): string[] {
  const choices = listPermissionChoices(card.ask.questions[0]!)
  const style = { ...quoting, nameWidth: KEY_WIDTH }
  const keys = choices.flatMap((one) =>
    factRows(`${one.digit}`, escapeLine(describeChoice(one, card.agent)), style),
  )
  return ['', ...keys, ...factRows('Ctrl+C', 'stops the agent', style)]
}

/**
 * Renders a diff as the transcript does, behind the bar of quoted text. A text that is not entirely a unified
 * diff is quoted as it is, so that nothing is left out.
 */
function diffRows(diff: string, path: string, quoting: QuoteStyle): string[] {
  const rest = stripDiffHeader(diff, path)
  const lines = readWholeDiff(rest)
  if (!lines) return quoteRows(rest, { ...quoting, tint })
  const columns = Math.max(1, quoting.columns - BAR.length)
  return renderDiff(lines, { path, isEscaped: true }, { ...quoting, columns }).map((row) => BAR + row)
}

/** Removes the first two lines of a diff when they only repeat the path shown above it. */
function stripDiffHeader(diff: string, path: string): string {
  const head = `--- ${path}\n+++ ${path}\n`
  return diff.startsWith(head) ? diff.slice(head.length) : diff
}

/** Returns the style of a diff line. The first two lines are dim when they name the file. */
function tint(line: string, at: number): TextStyle | undefined {
  return at < 2 && /^(---|\+\+\+) /.test(line) ? 'dim' : TINTS.get(line.slice(0, 1))
}

const TINTS: ReadonlyMap<string, TextStyle> = new Map<string, TextStyle>([
  ['+', 'added'],
  ['-', 'removed'],
  ['@', 'accent'],
])
