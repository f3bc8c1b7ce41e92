import type { SpinnerName } from '../../core/base/chat-settings.ts'
import { formatCount, formatSpan } from '../../core/base/format.ts'
import { shownAsk } from '../state/pending-asks.ts'
import type { ChatState, RetryWait, RunningTurn } from '../state/types.ts'
import { cleanLine } from '../view/clean.ts'
import { formatRetryReason, formatRetryWait } from '../view/retry.ts'
import type { Section } from '../view/section.ts'
import { paint } from '../view/style.ts'
import { measureWidth, truncateText } from '../view/text.ts'
import type { RenderContext } from '../view/view.ts'
import { joinStatus, statusParts } from './status.ts'

/** The location shown in the status line. */
interface StatusLocation {
  shownCwd: string
}

/** Renders the status line: agent, model, context usage, cost, and location. */
export function renderStatus(
  state: ChatState,
  location: StatusLocation,
  { columns, color }: RenderContext,
): Section {
  return { lines: [joinStatus(statusParts(state, location), columns, color)], cut: 'tail', rank: 5 }
}

/**
 * Renders the activity of the running turn and the messages that wait for it; empty when there are neither.
 * `now` is in milliseconds since 1970.
 */
export function renderWorking(state: ChatState, now: number, { columns, color }: RenderContext): Section {
  const { turn, steers, queue, overlay, settings } = state
  const isAsking = shownAsk(state) !== undefined
  const isEscFree = !overlay && !isAsking
  const dim = (line: string) => paint(truncateText(line, columns), color, 'dim')
  const lines = [
    ...(turn
      ? [workingLine(turn, now, { columns, color, isAsking, isEscFree, spinner: settings.spinner })]
      : []),
    ...listed(
      steers.map(({ text }) => text),
      'next',
    ).map(dim),
    ...listed(queue, 'then').map(dim),
  ]
  return { lines: lines.length === 0 ? [] : ['', ...lines], cut: 'tail', rank: 3 }
}

interface WorkingLineOptions extends Pick<RenderContext, 'columns' | 'color'> {
  /** Whether a question of the conversation is pending. */
  isAsking: boolean
  /** Whether nothing else on the screen uses Esc. */
  isEscFree: boolean
  spinner: SpinnerName
}

function workingLine(turn: RunningTurn, now: number, options: WorkingLineOptions): string {
  const { columns, color, isAsking, isEscFree, spinner } = options
  const elapsed = Math.max(0, now - turn.startedAt)
  const frames = [...SPINNER_FRAMES[spinner]]
  const mark = paint(frames[Math.floor(elapsed / FRAME_MS) % frames.length]!, color, 'accent')
  const esc = turn.isCancelling || !isEscFree ? [] : ['esc to interrupt']
  if (turn.retry && !turn.isCancelling) return retryLine(turn.retry, now, { mark, esc, ...options })
  const what = turn.isCancelling ? 'stopping' : isAsking ? 'waiting for you' : cleanLine(turn.doing)
  const tokens = Math.round(turn.outputTokens)
  const span = formatSpan(elapsed) // the line changes once a second
  const written = tokens > 0 ? [tokens === 1 ? '1 token' : `${formatCount(tokens)} tokens`] : []
  const room = columns - measureWidth(`${mark} ${what} `)
  const facts = [[span, ...written, ...esc], [span, ...esc], [span]].map((parts) => parts.join(' · '))
  const shown = facts.find((text) => measureWidth(text) <= room) ?? span
  return truncateText(`${mark} ${what} ${paint(shown, color, 'dim')}`, columns)
}

/** Renders the wait for the next attempt of a model call; its reason is shortened, so that the rest stays visible. */
function retryLine(
  retry: RetryWait,
  now: number,
  { columns, color, mark, esc }: WorkingLineOptions & { mark: string; esc: readonly string[] },
): string {
  const all = [...formatRetryWait({ ...retry, ms: retry.until - now }), ...esc]
  const least = columns - measureWidth(mark) - 1 - MIN_REASON
  const count = all.findLastIndex((_, at) => measureWidth(joinFacts(all.slice(0, at + 1))) <= least) + 1
  const facts = joinFacts(all.slice(0, Math.max(1, count)))
  const reason = truncateText(formatRetryReason(retry.message), least + MIN_REASON - measureWidth(facts))
  return truncateText(`${mark} ${reason}${paint(facts, color, 'dim')}`, columns)
}

function joinFacts(facts: readonly string[]): string {
  return facts.map((fact) => ` · ${fact}`).join('')
}

/** The least columns of the reason of a wait. */
const MIN_REASON = 12

/** The signs of each spinner, one after another. */
const SPINNER_FRAMES: Readonly<Record<SpinnerName, string>> = {
  dots: '⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏',
  line: '|/-\\',
  circle: '◐◓◑◒',
  bar: '▁▂▃▄▅▆▇▆▅▄▃▂',
  pulse: '·•●•',
  none: '•',
}
const FRAME_MS = 100

/** The maximum number of waiting messages that are shown. */
const MAX_LISTED = 3

function listed(texts: readonly string[], label: string): string[] {
  const shown = texts.slice(0, MAX_LISTED).map((text) => `${label}: ${cleanLine(text.slice(0, MAX_CHARS))}`)
  const left = texts.length - shown.length
  return left === 0 ? shown : [...shown, `… and ${left} more`]
}

/** The maximum characters of a message that are processed for its line. */
const MAX_CHARS = 1_000
