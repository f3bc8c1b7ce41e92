import { renderCard } from '../cards/card.ts'
import { renderOverlay } from '../overlays/overlay.ts'
import type { ChatPorts } from '../ports.ts'
import { getVisibleCard } from '../state/focus.ts'
import { elsewhereText } from '../state/pending-asks.ts'
import type { ChatState } from '../state/types.ts'
import { toWelcome } from '../state/welcome.ts'
import type { PromptContext } from '../text/prompt-state.ts'
import { renderBlock } from '../view/block.ts'
import { cleanLine } from '../view/clean.ts'
import { renderCalls, renderOpen, renderShell } from '../view/live.ts'
import { renderPrompt } from '../view/prompt.ts'
import type { Section } from '../view/section.ts'
import { paint, type TextStyle } from '../view/style.ts'
import { measureWidth, truncateText, wrapAtMost } from '../view/text.ts'
import type { RenderContext } from '../view/view.ts'
import { renderStatus, renderWorking } from './frame.ts'
import { MODES } from './status.ts'

/** The location of the chat, and how other paths are shown. */
export type ChatLocation = Pick<ChatPorts, 'shownCwd' | 'abbreviate'>

export interface SectionContext {
  view: RenderContext
  location: ChatLocation
  context: PromptContext
  /** Milliseconds since 1970. */
  now: number
}

/**
 * Returns the sections of the live region from top to bottom: growing text, running calls, the focused part,
 * and the status line.
 */
export function toSections(state: ChatState, { view, location, context, now }: SectionContext): Section[] {
  const { open, tools, shellOutput } = state
  const growing = open ? renderOpen(open, view) : []
  return [
    renderWelcome(state, view),
    { lines: growing, cut: 'head', rank: 1 },
    { lines: renderCalls(tools, state.isAfterCall, view), cut: 'head', rank: 2 },
    { lines: renderShell(shellOutput, view), cut: 'head', rank: 2 },
    renderWorking(state, now, view),
    ...focused(state, { view, location, context }),
    renderHint(state.hint, view),
    renderElsewhere(state, view),
    renderStatus(hasModeRule(state, view) ? { ...state, mode: 'ask' } : state, location, view),
  ]
}

function renderHint(hint: string, { color, columns }: RenderContext): Section {
  const rows = hint === '' ? [] : wrapAtMost(cleanLine(hint), Math.max(1, columns - 2), HINT_ROWS)
  return { lines: rows.map((row) => paint(`  ${row}`, color, 'dim')), cut: 'tail', rank: 6 }
}

const HINT_ROWS = 2

const GAP: Section = { lines: [''], cut: 'head', rank: 0 }

/** The welcome until it is printed, and a blank line below it until something else is. */
function renderWelcome(state: ChatState, view: RenderContext): Section {
  const block = toWelcome(state)
  const gap = block || state.isWelcomeLast ? [''] : []
  return { lines: [...(block ? renderBlock(block, view) : []), ...gap], cut: 'head', rank: 0 }
}

/** The overlay, or else the composer between two rules, below the card of the pending question. */
function focused(
  state: ChatState,
  { view, location, context }: Pick<SectionContext, 'view' | 'location' | 'context'>,
): Section[] {
  const { overlay, prompt } = state
  if (overlay) return [GAP, renderOverlay(overlay, view)]
  const { text, below } = renderPrompt(prompt, context, view)
  const composer = [text, renderRule(NO_LABEL, view), below]
  const card = getVisibleCard(state)
  if (!card) return [{ ...renderRule(MODES[state.mode], view), rank: MODE_RANK }, ...composer]
  const isFree = prompt.text === '' && prompt.menu === undefined
  const promptRows = text.lines.length + below.lines.length
  const cwd = card.ask.permission?.cwd ?? ''
  const directory = cwd === '' ? location.shownCwd : location.abbreviate(cwd)
  return [renderCard(card, { ...view, promptRows, isFree, directory }), ...composer] // the card ends with a rule
}

/** Whether the rule above the composer names the approval mode, so that the status line need not. */
function hasModeRule(state: ChatState, { rows }: RenderContext): boolean {
  return rows >= MIN_RULED_ROWS && !state.overlay && !getVisibleCard(state)
}

/** With fewer rows, the rule may be dropped. */
const MIN_RULED_ROWS = 12

/** The rank of the rule with the mode, which stays while a long text grows. */
const MODE_RANK = 2.5
const NO_LABEL = { text: '', style: 'dim' } as const

/** A rule above or below the composer, with a label near its end. It is dropped first when space is short. */
function renderRule(
  { text, style }: { text: string; style: TextStyle },
  { columns, color }: RenderContext,
): Section {
  const room = columns - measureWidth(text) - LABEL_MARGIN
  const isLabeled = text !== '' && room > 0
  const start = paint('─'.repeat(isLabeled ? room : columns), color, 'dim')
  const label = isLabeled ? ` ${paint(text, color, style)} ${paint('─', color, 'dim')}` : ''
  return { lines: [start + label], cut: 'head', rank: 0 }
}

/** The columns of the blanks around the label, and of the end of the rule. */
const LABEL_MARGIN = 3

/** One line about pending questions of other conversations. It never takes keys. */
function renderElsewhere(state: ChatState, { color, columns }: RenderContext): Section {
  const text = elsewhereText(state)
  const lines = text === '' ? [] : [paint(truncateText(`  ${cleanLine(text)}`, columns), color, 'warning')]
  return { lines, cut: 'tail', rank: 4 }
}
