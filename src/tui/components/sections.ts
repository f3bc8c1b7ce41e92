import { renderCard } from '../cards/card.ts'
import { renderOverlay } from '../overlays/overlay.ts'
import { getVisibleCard } from '../state/focus.ts'
import { elsewhereText } from '../state/pending-asks.ts'
import type { ChatState } from '../state/types.ts'
import type { PromptContext } from '../text/prompt.ts'
import { cleanLine } from '../view/clean.ts'
import { renderCalls, renderOpen, renderShell } from '../view/live.ts'
import { renderPrompt } from '../view/prompt.ts'
import type { Section } from '../view/section.ts'
import { paint } from '../view/style.ts'
import { truncateText } from '../view/text.ts'
import type { RenderContext } from '../view/view.ts'
import { renderStatus, renderWorking, type StatusLocation } from './frame.ts'

export interface SectionContext {
  view: RenderContext
  location: StatusLocation
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
    { lines: growing, cut: 'head', rank: 1 },
    { lines: renderCalls(tools, state.isAfterCall, view), cut: 'head', rank: 2 },
    { lines: renderShell(shellOutput, view), cut: 'head', rank: 2 },
    renderWorking(state, now, view),
    GAP,
    ...focused(state, view, context),
    renderHint(state.hint, view),
    renderElsewhere(state, view),
    renderStatus(state, location, view),
  ]
}

function renderHint(hint: string, { color, columns }: RenderContext): Section {
  const lines = hint === '' ? [] : [paint(truncateText(`  ${cleanLine(hint)}`, columns), color, 'dim')]
  return { lines, cut: 'tail', rank: 6 }
}

const GAP: Section = { lines: [''], cut: 'head', rank: 0 }

/** The overlay, or else the composer below the card of the pending question. */
function focused(state: ChatState, view: RenderContext, context: PromptContext): Section[] {
  const { overlay, prompt } = state
  if (overlay) return [renderOverlay(overlay, view)]
  const composer = renderPrompt(prompt, context, view)
  const card = getVisibleCard(state)
  if (!card) return [composer]
  const isFree = prompt.text === '' && prompt.menu === undefined
  return [renderCard(card, { ...view, promptRows: composer.lines.length, isFree }), composer]
}

/** One line about pending questions of other conversations. It never takes keys. */
function renderElsewhere(state: ChatState, { color, columns }: RenderContext): Section {
  const text = elsewhereText(state)
  const lines = text === '' ? [] : [paint(truncateText(`  ${cleanLine(text)}`, columns), color, 'warning')]
  return { lines, cut: 'tail', rank: 4 }
}
