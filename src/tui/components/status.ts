import { STATUS_PARTS, type StatusPartName } from '../../core/base/chat-settings.ts'
import { formatCount, formatUsd, pluralize } from '../../core/base/format.ts'
import type { ModeName } from '../ports.ts'
import { isCurrent, otherRuns } from '../state/pending-asks.ts'
import type { ChatState, OtherRun, UsageTotals } from '../state/types.ts'
import { cleanLine } from '../view/clean.ts'
import { meter } from '../view/meter.ts'
import { paint, type TextStyle } from '../view/style.ts'
import { measureWidth, truncateText } from '../view/text.ts'

/** A part of the status line. */
export interface StatusPart {
  text: string
  /** The parts with the lowest rank are dropped first when space is short. */
  rank: number
  style: TextStyle
  /** The fewest columns in which it still says something; parts without this are dropped whole. */
  minColumns?: number
}

/**
 * Lists the parts of the status line from left to right, as the settings order them, without empty ones. What
 * the user must know is shown even when the settings leave it out.
 */
export function statusParts(state: ChatState, location: { shownCwd: string }): StatusPart[] {
  const { status } = state.settings
  const urgent = STATUS_PARTS.filter((name) => !status.includes(name) && isUrgent(name, state))
  return [...status, ...urgent].map((name) => PARTS[name](state, location)).filter(({ text }) => text !== '')
}

type MakePart = (state: ChatState, location: { shownCwd: string }) => StatusPart

/** The parts by their names in `[tui] status`. */
const PARTS: Readonly<Record<StatusPartName, MakePart>> = {
  agent: ({ agent }) => ({ text: cleanLine(agent), rank: 9, style: 'accent' }),
  mode: modePart,
  vim: vimPart,
  model: ({ model, effort }) => ({ text: cleanLine(`${model} ${effort}`).trim(), rank: 7, style: 'dim' }),
  shared: ({ followers }) => ({ text: followers > 1 ? 'shared' : '', rank: 8, style: 'accent' }),
  others: othersPart,
  title: ({ title }) => ({
    text: truncateText(cleanLine(title), TITLE_COLUMNS),
    rank: 2,
    style: 'dim',
    minColumns: MIN_TITLE_COLUMNS,
  }),
  context: ({ usage: { last, context }, models, model }) => ({
    ...contextMeter({ last, context: context ?? models.find(({ name }) => name === model)?.context }),
    rank: 8,
  }),
  cost: ({ usage: { usd, turns } }) => ({
    text: usd === undefined || turns === 0 ? '' : formatUsd(usd),
    rank: 5,
    style: 'dim',
  }),
  mcp: serversPart,
  directory: ({ branch }, { shownCwd }) => {
    const where = branch === undefined || branch === '' ? '' : ` (${cleanLine(branch)})`
    return { text: cleanLine(shownCwd) + where, rank: 4, style: 'dim' }
  },
  daemon: placePart,
}

/** Whether a part says something that the user must know. */
function isUrgent(name: StatusPartName, { mode, isLinkLost, followers }: ChatState): boolean {
  if (name === 'shared') return followers > 1
  return (name === 'mode' && mode === 'all') || (name === 'daemon' && isLinkLost)
}

/** The mode of the running turn may still be another one than the user has chosen for the next. */
function modePart({ mode, turn }: ChatState): StatusPart {
  const { text, style } = MODES[mode]
  const isLater = turn?.mode !== undefined && turn.mode !== mode
  return { text: isLater ? `${text || 'asks'} from the next message on` : text, rank: 10, style }
}

function vimPart({ prompt: { vim } }: ChatState): StatusPart {
  if (!vim) return { text: '', rank: 6, style: 'dim' }
  const isNormal = vim.mode === 'normal'
  const text = isNormal ? `NORMAL ${cleanLine(vim.pending)}`.trimEnd() : 'INSERT'
  return { text, rank: 6, style: isNormal ? 'accent' : 'dim' }
}

/** Counts the turns and questions of other conversations. */
function othersPart(state: ChatState): StatusPart {
  const asks = state.asks.filter((card) => !isCurrent(state, card))
  const isAsking = ({ agent, sender }: OtherRun) =>
    asks.some(({ pair }) => pair.agent === agent && pair.sender === sender)
  const running = otherRuns(state).filter((run) => !isAsking(run)).length
  const parts = [
    ...(running > 0 ? [`${running} running`] : []),
    ...(asks.length > 0 ? [pluralize(asks.length, 'question')] : []),
  ]
  return { text: parts.join(' · '), rank: 6, style: asks.length > 0 ? 'warning' : 'dim' }
}

/** Returns the place where the agents run, or a warning when the daemon is gone. */
function placePart({ place, isLinkLost }: ChatState): StatusPart {
  if (isLinkLost) return { text: 'no daemon, trying again', rank: 9, style: 'warning' }
  const text = place === undefined ? '' : place === 'daemon' ? 'daemon' : 'in process'
  return { text, rank: 1, style: 'dim' }
}

/** Joins the most important parts that fit on one line; the last remaining part may be truncated. */
export function joinStatus(parts: readonly StatusPart[], columns: number, color: boolean): string {
  const runs: { text: string; style: TextStyle }[] = []
  for (const { text, style } of fitParts(parts, columns)) {
    if (runs.length > 0) addRun(runs, BETWEEN, 'dim')
    addRun(runs, text, style)
  }
  return truncateText(runs.map(({ text, style }) => paint(text, color, style)).join(''), columns)
}

/** Drops the least important parts until the others fit, or shortens one that may be shortened that far. */
function fitParts(parts: readonly StatusPart[], columns: number): readonly StatusPart[] {
  const excess = widthOf(parts) - columns
  if (excess <= 0 || parts.length === 1) return parts
  const least = parts.reduce((one, other) => (other.rank < one.rank ? other : one))
  const room = measureWidth(least.text) - excess
  const isCut = least.minColumns !== undefined && room >= least.minColumns
  if (!isCut) return fitParts(without(parts, least), columns)
  return parts.map((part) => (part === least ? { ...part, text: truncateText(part.text, room) } : part))
}

function without(parts: readonly StatusPart[], dropped: StatusPart): StatusPart[] {
  return parts.filter((part) => part !== dropped)
}

function widthOf(parts: readonly StatusPart[]): number {
  return measureWidth(parts.map(({ text }) => text).join(BETWEEN))
}

/** Adds a text to the last run if that has the same style: Ink writes neighbors of one style together, too. */
function addRun(runs: { text: string; style: TextStyle }[], text: string, style: TextStyle): void {
  const last = runs.at(-1)
  if (last?.style === style) last.text += text
  else runs.push({ text, style })
}

const BETWEEN = ' · '
const TITLE_COLUMNS = 40
const MIN_TITLE_COLUMNS = 12

/** The name of each approval mode on the screen. */
export const MODES: Record<ModeName, { text: string; style: TextStyle }> = {
  ask: { text: '', style: 'dim' },
  edits: { text: 'edits allowed', style: 'success' },
  plan: { text: 'plan', style: 'accent' },
  'read-only': { text: 'read-only', style: 'accent' },
  all: { text: 'everything allowed', style: 'error' },
}

/** The shares of the context window at which its color changes. */
const MUCH = 0.7
const TOO_MUCH = 0.9

function contextMeter({ last, context }: Pick<UsageTotals, 'last' | 'context'>): {
  text: string
  style: TextStyle
} {
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
