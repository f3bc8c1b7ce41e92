import { useEffect, useLayoutEffect, useRef, useState } from 'react'
import type { ChatStore } from '../state/store.ts'
import type { ChatState, RunningTurn } from '../state/types.ts'
import type { Block, NumberedBlock } from '../view/blocks.ts'
import { hasDiff } from '../view/look.ts'
import type { RenderContext } from '../view/view.ts'

export interface PrintingOptions {
  store: ChatStore
  /** The state of this frame. */
  state: ChatState
  view: RenderContext
  /** Whether nothing is loading that would improve how the state is drawn. */
  isSettled: boolean
  /** Prints blocks above the frame, with that frame. */
  print(blocks: readonly NumberedBlock[]): void
  /** Milliseconds of a clock that never jumps. */
  elapsed(): number
}

/** The parts of the state that this frame draws otherwise, because blocks before them are not printed yet. */
export type HeldBack = Pick<ChatState, 'open' | 'turn'> & {
  /** Finished blocks that are drawn in the live region. */
  waiting: readonly NumberedBlock[]
}

/**
 * Prints finished blocks once, with the frame in which they are no longer live. Printing waits while the
 * terminal is lent, and answers and diffs wait for what they are drawn with, because printed text is never
 * redrawn. Meanwhile they stay live, and a turn whose last blocks cannot be shown yet counts as running.
 *
 * Text longer than SLICE_CHARS that arrived during a turn is printed in slices, with pauses as long as they
 * took: keys are echoed in between, and half of the time is left for reading the stream. A chat shows at most
 * 30 frames a second.
 */
export function usePrintFinished(options: PrintingOptions): HeldBack {
  const { store, state, view, isSettled, print, elapsed } = options
  const [, redraw] = useState(0)
  const rest = useRef<Rest>(undefined)
  const lastTurn = useRef<RunningTurn>(undefined)
  const { printed, left, isSliced } = planPrinting(state, isSettled, rest.current)
  const isLive = left.length > 0 && !isSliced && view.parse !== undefined
  const isBehind = left.length > 0 && !isLive
  useLayoutEffect(() => {
    if (state.turn || !isBehind) lastTurn.current = state.turn
    if (printed.length === 0 || store.getShown().isLent) return
    const begin = elapsed()
    print(printed)
    const end = elapsed()
    const until = Math.max(2 * end - begin, begin + MIN_SLICE_PERIOD_MS)
    rest.current = isSliced ? { until, isOver: false } : undefined
    store.act({ type: 'printed', upto: printed.at(-1)!.id })
  })
  const { current } = rest
  useEffect(() => {
    if (!current) return
    const finish = () => {
      current.isOver = true
      redraw((count) => count + 1)
    }
    const timer = setTimeout(finish, Math.max(0, current.until - elapsed()))
    return () => clearTimeout(timer)
  }, [current, elapsed])
  return {
    open: isBehind ? undefined : state.open,
    turn: state.turn ?? (isBehind ? lastTurn.current : undefined),
    waiting: isLive ? left : [],
  }
}

/** Divides the finished blocks into those that this frame prints and those that wait. */
function planPrinting(
  { finished, turn, isLent, isLeaving }: ChatState,
  isSettled: boolean,
  rest: Rest,
): { printed: readonly NumberedBlock[]; left: readonly NumberedBlock[]; isSliced: boolean } {
  if (isLent) return { printed: [], left: [], isSliced: false }
  const at = isSettled || isLeaving ? -1 : finished.findIndex(({ block }) => needsLook(block))
  const ready = at < 0 ? finished : finished.slice(0, at)
  const inSlices = !isLeaving && (turn !== undefined || rest !== undefined)
  const isPausing = inSlices && rest?.isOver === false
  const printed = isPausing ? [] : inSlices ? takeSlice(ready) : ready
  return {
    printed,
    left: finished.slice(printed.length),
    isSliced: isPausing || printed.length < ready.length,
  }
}

/** Whether a block is drawn differently once the parser and the highlighter are loaded. */
function needsLook(block: Block): boolean {
  return block.kind === 'answer' || hasDiff(block)
}

/** The pause after a slice; undefined when no slices are left. */
type Rest = { until: number; isOver: boolean } | undefined

/** Returns the first blocks, with at most SLICE_CHARS of text, but at least one. */
function takeSlice(finished: readonly NumberedBlock[]): readonly NumberedBlock[] {
  let chars = 0
  const end = finished.findIndex(({ block }) => {
    chars += block.kind === 'answer' || block.kind === 'thinking' ? block.text.length : 0
    return chars > SLICE_CHARS
  })
  return end < 0 ? finished : finished.slice(0, Math.max(1, end))
}

/** The characters that one slice prints, in about 40 ms. */
const SLICE_CHARS = 32 * 1024
/** The minimum time from the start of a slice to the start of the next, in milliseconds. */
const MIN_SLICE_PERIOD_MS = 70
