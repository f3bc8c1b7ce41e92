import { toVisible } from '../../core/base/visible.ts'
import type { PermissionRequest } from '../../core/protocol/crabtalk.generated.ts'
import { escapeLine, expandDiffTabs, toSubject } from '../../tui/cards/subject.ts'
import { colorize, type Paint } from '../color.ts'
import { labelRows, quoteWithBar, type TerminalStyle, wrapToRows } from './layout.ts'

/** Rows that are shown of what would be done, and of a diff, before a person asks for all. */
const MOST_ROWS = 40
const MOST_DIFF_ROWS = 60
const MOST_WHY_ROWS = 3
const MOST_RISK_ROWS = 6

/** Renders a permission request without its choices, as lines that each end with a line break; `whole` leaves nothing out. */
export function permissionCard(
  request: PermissionRequest,
  { agent, style, whole = false }: { agent: string; style: TerminalStyle; whole?: boolean },
): string {
  const { verb, what } = toSubject(request)
  const { cwd, diff, reason, warnings } = request
  const most = (rows: number) => (whole ? Number.POSITIVE_INFINITY : rows)
  const title = `${escapeLine(agent)} wants to ${escapeLine(verb)}`
  const lines = [
    `crabtalk: ${colorize(title, 'bold', style.color)}`,
    ...quoteWithBar(toVisible(what), { style, most: most(MOST_ROWS) }),
    ...commandLines(request, style),
    ...(diff === ''
      ? []
      : quoteWithBar(toVisible(expandDiffTabs(diff)), { style, most: most(MOST_DIFF_ROWS), tint })),
    ...labelRows('in', toVisible(cwd), style),
    ...labelRows(
      'why',
      wrapToRows(toVisible(reason), { columns: style.columns, most: most(MOST_WHY_ROWS) }),
      style,
    ),
    ...warnings.flatMap((one) =>
      labelRows(
        'risk',
        wrapToRows(toVisible(one), { columns: style.columns, most: most(MOST_RISK_ROWS) }),
        style,
      ),
    ),
  ]
  return lines.map((line) => `${line}\n`).join('')
}

/** Each command of a line of several, cut where it is too long, and which of them are asked about. */
function commandLines({ commands }: PermissionRequest, style: TerminalStyle): string[] {
  if (commands.length < 2) return []
  const narrow = { ...style, columns: style.columns - 1 } // leaves room for the sign of a cut
  return commands.map(({ text, asks }) => {
    const [first = '', ...more] = labelRows(asks ? 'asks' : 'ok', escapeLine(text), narrow)
    return more.length > 0 ? `${first}…` : first
  })
}

/** The first two lines of a diff name the file. */
function tint(line: string, at: number): Paint | undefined {
  return at < 2 && /^(---|\+\+\+) /.test(line) ? 'dim' : TINTS.get(line.slice(0, 1))
}

const TINTS: ReadonlyMap<string, Paint> = new Map([
  ['+', 'green'],
  ['-', 'red'],
  ['@', 'cyan'],
])
