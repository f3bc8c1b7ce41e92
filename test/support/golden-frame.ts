import { isWriting } from '../../src/tui/cards/card.ts'
import { toSections } from '../../src/tui/components/sections.ts'
import { getVisibleCard } from '../../src/tui/state/focus.ts'
import type { ChatState } from '../../src/tui/state/types.ts'
import { renderBlock } from '../../src/tui/view/block.ts'
import { makePalette } from '../../src/tui/view/palette.ts'
import { fitSections } from '../../src/tui/view/section.ts'
import { ANSI_PALETTE, setPalette } from '../../src/tui/view/style.ts'
import { measureWidth, truncateText } from '../../src/tui/view/text.ts'
import { makeView } from '../tui/view/support.ts'
import { assertGoldenText } from './chat-session-golden.ts'
import { GOLDEN_NOW } from './golden-facts.ts'

/** The widths of every golden view. */
const WIDTHS = [40, 80, 120, 200] as const
const ROWS = 30

/**
 * Compares what the chat draws in a state with the stored view, at each width, and at 80 columns with the colors of a
 * dark and a light terminal if `hasColors` is set; `npm run golden` rewrites it.
 */
export async function assertGoldenView(
  name: string,
  state: ChatState,
  { hasColors = false }: { hasColors?: boolean } = {},
): Promise<void> {
  const pictures = WIDTHS.map((columns) => [`${columns} columns`, ...drawFrame(state, columns)])
  await assertGoldenText(`views/${name}`, pictures)
  if (!hasColors) return
  const looks = [false, true].map((isLight) => {
    setPalette(makePalette({ theme: 'auto', colors: {} }, { depth: 24, isLight }))
    return [isLight ? 'light' : 'dark', ...drawFrame(state, 80, true)]
  })
  setPalette(ANSI_PALETTE)
  await assertGoldenText(`views/${name}-colors`, looks)
}

/** Draws the printed blocks of a state, and below them its live region as it fits a terminal of 30 rows. */
function drawFrame(state: ChatState, columns: number, color = false): string[] {
  const view = makeView({ columns, rows: ROWS, color })
  const card = getVisibleCard(state)
  const context = {
    ...{ isBusy: state.turn !== undefined, columns },
    ...(card && { placeholder: isWriting(card) ? 'Your reply to the agent' : 'Or type a message' }),
  }
  const printed = state.finished.flatMap(({ block }) => renderBlock(block, { ...view, softWrap: true }))
  const sections = toSections(state, {
    view,
    location: { shownCwd: '~/web', abbreviate: (path: string) => path },
    context,
    now: GOLDEN_NOW,
  })
  const live = fitSections(sections, ROWS - 1).lines
  return [
    ...printed,
    ...live.map((line) => (measureWidth(line) > columns ? truncateText(line, columns) : line)),
  ]
}
