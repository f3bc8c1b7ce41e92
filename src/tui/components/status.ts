import type { ModeName } from '../ports.ts'
import type { ChatState, UsageTotals } from '../state/types.ts'
import { cleanLine } from '../view/clean.ts'
import { formatCount, formatUsd, meter } from '../view/numbers.ts'
import { paint, type TextStyle } from '../view/style.ts'
import { measureWidth, truncateText } from '../view/text.ts'

/** A part of the status line. */
export interface StatusPart {
  text: string
  /** The parts with the lowest rank are dropped first when space is short. */
  rank: number
  style: TextStyle
}

/** Lists the parts of the status line from left to right, without empty ones. */
export function statusParts(state: ChatState, { shownCwd }: { shownCwd: string }): StatusPart[] {
  const { agent, model, effort, title, mode, usage, branch } = state
  const where = branch === undefined || branch === '' ? '' : ` (${cleanLine(branch)})`
  const parts: StatusPart[] = [
    { text: cleanLine(agent), rank: 9, style: 'accent' },
    { text: MODES[mode].text, rank: 10, style: MODES[mode].style },
    { text: cleanLine(`${model} ${effort}`).trim(), rank: 7, style: 'dim' },
    { text: truncateText(cleanLine(title), TITLE_COLUMNS), rank: 2, style: 'dim' },
    { ...contextMeter(usage), rank: 8 },
    { text: usage.usd === undefined || usage.turns === 0 ? '' : formatUsd(usage.usd), rank: 5, style: 'dim' },
    serversPart(state),
    { text: cleanLine(shownCwd) + where, rank: 4, style: 'dim' },
    placePart(state),
  ]
  return parts.filter(({ text }) => text !== '')
}

/** Returns the place where the agents run, or a warning when the daemon is gone. */
function placePart({ place, isLinkLost }: ChatState): StatusPart {
  if (isLinkLost) return { text: 'no daemon, trying again', rank: 9, style: 'warning' }
  const text = place === undefined ? '' : place === 'daemon' ? 'daemon' : 'in process'
  return { text, rank: 1, style: 'dim' }
}

/** Joins the most important parts that fit on one line; the last remaining part may be truncated. */
export function joinStatus(parts: readonly StatusPart[], columns: number, color: boolean): string {
  let shown = parts
  while (shown.length > 1 && measureWidth(shown.map(({ text }) => text).join(BETWEEN)) > columns) {
    const least = shown.reduce((one, other) => (other.rank < one.rank ? other : one))
    shown = shown.filter((part) => part !== least)
  }
  const runs: { text: string; style: TextStyle }[] = []
  for (const { text, style } of shown) {
    if (runs.length > 0) addRun(runs, BETWEEN, 'dim')
    addRun(runs, text, style)
  }
  return truncateText(runs.map(({ text, style }) => paint(text, color, style)).join(''), columns)
}

/** Adds a text to the last run if that has the same style: Ink writes neighbors of one style together, too. */
function addRun(runs: { text: string; style: TextStyle }[], text: string, style: TextStyle): void {
  const last = runs.at(-1)
  if (last?.style === style) last.text += text
  else runs.push({ text, style })
}

const BETWEEN = ' · '
const TITLE_COLUMNS = 40

const MODES: Record<ModeName, { text: string; style: TextStyle }> = {
  ask: { text: '', style: 'dim' },
  edits: { text: 'edits allowed', style: 'success' },
  'read-only': { text: 'read-only', style: 'accent' },
  all: { text: 'everything allowed', style: 'error' },
}

/** The shares of the context window at which its color changes. */
const MUCH = 0.7
const TOO_MUCH = 0.9

function contextMeter({ last, context }: UsageTotals): { text: string; style: TextStyle } {
  if (!last) return { text: '', style: 'dim' }
  const used = last.promptTokens + last.completionTokens
  if (used === 0) return { text: '', style: 'dim' }
  if (!context) return { text: `${formatCount(used)} ${used === 1 ? 'token' : 'tokens'}`, style: 'dim' }
  const share = used / context
  const text = `${meter(share, BAR_COLUMNS)} ${formatCount(used)}/${formatCount(context)} ${Math.round(share * 100)}%`
  return { text, style: share >= TOO_MUCH ? 'error' : share >= MUCH ? 'warning' : 'dim' }
}

const BAR_COLUMNS = 5

/** Counts the agent's connected MCP servers; a failed one raises the rank. */
function serversPart({ servers }: ChatState): StatusPart {
  const states = [...servers.values()]
  if (states.length === 0) return { text: '', rank: 3, style: 'dim' }
  const connected = states.filter((state) => state === 'connected').length
  const isBad = states.includes('failed')
  return { text: `mcp ${connected}/${states.length}`, rank: isBad ? 6 : 3, style: isBad ? 'warning' : 'dim' }
}
