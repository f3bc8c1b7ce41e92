import { escapeLine, toVisible } from '../../core/base/visible.ts'
import type { PermissionRequest } from '../../core/protocol/crabtalk.generated.ts'
import { expandDiffTabs, toSubject } from '../../core/questions/subject.ts'
import { colorize, type Paint } from '../color.ts'
import { labelRows, quoteWithBar, type TerminalStyle, wrapToRows } from './layout.ts'

/** The row limits of a call, a diff, a reason and a risk, until the user asks for all of it. */
const MAX_ROWS = 40
const MAX_DIFF_ROWS = 60
const MAX_REASON_ROWS = 3
const MAX_RISK_ROWS = 6

/**
 * Renders a permission request without its choices, as lines that each end with a line break; `whole`
 * disables the row limits.
 */
export function permissionCard(
  request: PermissionRequest,
  { agent, style, whole = false }: { agent: string; style: TerminalStyle; whole?: boolean },
): string {
  const { verb, what } = toSubject(request)
  const { cwd, diff, reason, warnings } = request
  const limit = (rows: number) => (whole ? Number.POSITIVE_INFINITY : rows)
  const title = `${escapeLine(agent)} wants to ${escapeLine(verb)}`
  const lines = [
    `crabtalk: ${colorize(title, 'bold', style.color)}`,
    ...quoteWithBar(toVisible(what), { style, maxRows: limit(MAX_ROWS) }),
    ...commandLines(request, style),
    ...(diff === ''
      ? []
      : quoteWithBar(toVisible(expandDiffTabs(diff)), { style, maxRows: limit(MAX_DIFF_ROWS), tint })),
    ...labelRows('in', toVisible(cwd), style),
    ...labelRows(
      'why',
      wrapToRows(toVisible(reason), { columns: style.columns, maxRows: limit(MAX_REASON_ROWS) }),
      style,
    ),
    ...warnings.flatMap((one) =>
      labelRows(
        'risk',
        wrapToRows(toVisible(one), { columns: style.columns, maxRows: limit(MAX_RISK_ROWS) }),
        style,
      ),
    ),
  ]
  return lines.map((line) => `${line}\n`).join('')
}

/**
 * Renders each command of a compound line, truncated if it is too long, and marks those that need permission.
 */
function commandLines({ commands }: PermissionRequest, style: TerminalStyle): string[] {
  if (commands.length < 2) return []
  const narrow = { ...style, columns: style.columns - 1 } // leaves room for the ellipsis
  return commands.flatMap(({ text, asks, reason }) => {
    const [first = '', ...more] = labelRows(asks ? 'asks' : 'ok', escapeLine(text), narrow)
    const row = more.length > 0 ? `${first}…` : first
    return reason === '' ? [row] : [row, ...labelRows('', `└ because: ${escapeLine(reason)}`, style)]
  })
}

/** Dims the first two lines of a diff, which name the file. */
function tint(line: string, at: number): Paint | undefined {
  return at < 2 && /^(---|\+\+\+) /.test(line) ? 'dim' : TINTS.get(line.slice(0, 1))
}

const TINTS: ReadonlyMap<string, Paint> = new Map([
  ['+', 'green'],
  ['-', 'red'],
  ['@', 'cyan'],
])
