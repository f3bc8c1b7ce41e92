import assert from 'node:assert/strict'
import { isWriting } from '../../src/tui/cards/card.ts'
import { toSections } from '../../src/tui/components/sections.ts'
import { Document } from '../../src/tui/pager/document.ts'
import { newPager, type PagerState, pressPager, renderPager } from '../../src/tui/pager/pager.ts'
import { getVisibleCard } from '../../src/tui/state/focus.ts'
import type { ChatState } from '../../src/tui/state/types.ts'
import { renderBlock } from '../../src/tui/view/block.ts'
import type { Block } from '../../src/tui/view/blocks.ts'
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
  { hasColors = false, rows = ROWS }: { hasColors?: boolean; rows?: number } = {},
): Promise<void> {
  const pictures = WIDTHS.map((columns) => [`${columns} columns`, ...drawFrame(state, { columns, rows })])
  await assertGoldenText(`views/${name}`, pictures)
  assertHighContrast(name, state, rows)
  if (!hasColors) return
  const looks = [false, true].map((isLight) => {
    setPalette(makePalette({ theme: 'auto', colors: {} }, { depth: 24, isLight }))
    return [isLight ? 'light' : 'dark', ...drawFrame(state, { columns: 80, rows, color: true })]
  })
  setPalette(ANSI_PALETTE)
  await assertGoldenText(`views/${name}-colors`, looks)
}

/** Checks that nothing of a frame is dim or in a weak color with the theme of high contrast, dark or light. */
function assertHighContrast(name: string, state: ChatState, rows: number): void {
  for (const [isLight, weak] of WEAK_STYLES) {
    setPalette(makePalette({ theme: 'high-contrast', colors: {} }, { depth: 24, isLight }))
    const lines = drawFrame(state, { columns: 80, rows, color: true })
    setPalette(ANSI_PALETTE)
    const found = lines.filter((line) => weak.test(line))
    assert.deepEqual(found, [], `${name} with the theme of high contrast`)
  }
}

const ESC = '\u001b'
/** The codes of dim text, of backgrounds, and of foregrounds that are weak on a dark or a light background. */
const WEAK_STYLES = [
  [false, new RegExp(`${ESC}\\[(2|3[0-8]|4[0-8]|90|10\\d|[34]8;[\\d;]*)m`)],
  [true, new RegExp(`${ESC}\\[(2|33|3[6-8]|4[0-8]|9\\d|10\\d|[34]8;[\\d;]*)m`)],
] as const

/** Compares the viewer of these blocks with the stored one, at each width. */
export async function assertGoldenPager(
  name: string,
  blocks: readonly Block[],
  keys: readonly string[],
): Promise<void> {
  const pictures = WIDTHS.map((columns) => {
    const document = new Document(makeView({ columns, rows: ROWS, details: true, isWhole: true }))
    document.setBlocks(blocks)
    const press = (state: PagerState, key: string) => pressPager(state, key, { document, rows: ROWS }).state
    const state = keys.reduce(press, newPager(document, ROWS))
    const rows = renderPager(state, {
      document,
      rows: ROWS,
      title: 'Changes of this conversation',
      isWhole: true,
    })
    return [`${columns} columns`, ...rows]
  })
  await assertGoldenText(`views/${name}`, pictures)
}

/** Draws the printed blocks of a state, and below them its live region as it fits the terminal. */
function drawFrame(
  state: ChatState,
  { columns, rows, color = false }: { columns: number; rows: number; color?: boolean },
): string[] {
  const view = makeView({ columns, rows, color })
  const card = getVisibleCard(state)
  const context = {
    ...{ isBusy: state.turn !== undefined, isCancelling: state.turn?.isCancelling ?? false, columns },
    ...(card && { placeholder: isWriting(card) ? 'Your reply to the agent' : 'Or type a message' }),
    ...(card && isWriting(card) && { isAnswer: true }),
  }
  const printed = state.finished.flatMap(({ block }) => renderBlock(block, { ...view, softWrap: true }))
  const location = { shownCwd: '~/web', abbreviate: (path: string) => path.replace('/home/ann', '~') }
  const sections = toSections(state, { view, location, context, now: GOLDEN_NOW })
  const live = fitSections(sections, rows - 1).lines
  return [
    ...printed,
    ...live.map((line) => (measureWidth(line) > columns ? truncateText(line, columns) : line)),
  ]
}
