import { Box, Text, useApp, useCursor, useInput, usePaste, useWindowSize } from 'ink'
import {
  type ReactNode,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react'
import type { Controller, TerminalControl } from '../controller/controller.ts'
import type { ChatStore } from '../state/store.ts'
import { getShownTheme } from '../state/theme.ts'
import type { ChatState } from '../state/types.ts'
import { toKeyPresses, toPaste } from '../text/key.ts'
import { renderBlock } from '../view/block.ts'
import type { Block, NumberedBlock } from '../view/blocks.ts'
import { hasCode, hasDiff, type Look, loadHighlighter, loadParser, warmParser } from '../view/look.ts'
import { makePalette } from '../view/palette.ts'
import { fitSections, type Section } from '../view/section.ts'
import { setPalette } from '../view/style.ts'
import type { RenderContext } from '../view/view.ts'
import type { StatusLocation } from './frame.ts'
import { toSections } from './sections.ts'

export interface AppProps {
  store: ChatStore
  controller: Controller
  color: boolean
  location: StatusLocation
  /** Prints text above the live region. */
  print(text: string): void
  /** Receives the function that lends the terminal. */
  onTerminal(lend: TerminalControl['lend']): void
  /** Called when something cannot be drawn, which is a bug in crabtalk. */
  onFailure(reason: unknown): void
  /** Milliseconds since 1970. */
  now(): number
  /** Milliseconds of a clock that never jumps. */
  elapsed(): number
}

/**
 * The chat on the screen: finished blocks go to the scrollback, everything else is drawn in the live region.
 */
export function App(props: AppProps): ReactNode {
  const { store, controller, color, location, print, onTerminal, onFailure, now, elapsed } = props
  const state = useSyncExternalStore(store.subscribe, store.getShown)
  const { columns, rows } = useWindowSize()
  const { look, isSettled } = useLook(useTheme(state, color), hasCode(state))
  const view: RenderContext = { ...look, columns, rows, details: state.details }
  const { suspendTerminal, exit } = useApp()
  useLayoutEffect(
    () => onTerminal(async (use) => suspendTerminal(async () => use())),
    [onTerminal, suspendTerminal],
  )
  useInput((input, key) => controller.keys(toKeyPresses(input, key)))
  usePaste((text) => controller.keys([toPaste(text)]))
  useClock(state.turn !== undefined)
  const isBehind = usePrintFinished({ store, view, isSettled, print, onFailure, elapsed })
  useEffect(() => controller.resized({ columns, rows }), [controller, columns, rows])
  const { isLeaving } = state
  useEffect(() => {
    if (isLeaving) exit()
  }, [isLeaving, exit])
  const around = { view, location, context: controller.context(), now: now() }
  const shown = isBehind ? { ...state, open: undefined } : state // what comes before it is not printed yet
  const sections = drawOrReport<Section[]>(() => (isLeaving ? [] : toSections(shown, around)), [], onFailure)
  return <LiveRegion sections={sections} rows={rows} />
}

interface PrintingOptions extends Pick<AppProps, 'store' | 'print' | 'onFailure' | 'elapsed'> {
  view: RenderContext
  isSettled: boolean
}

/**
 * Prints finished blocks once, after the frame in which they are no longer live. Printing waits while the
 * terminal is lent, and answers and diffs wait for what they are drawn with, because printed text is never
 * redrawn.
 *
 * Text longer than SLICE_CHARS that arrived during a turn is printed in slices, with pauses as long as they
 * took: keys are echoed in between, and half of the time is left for reading the stream. A slice may make two
 * frames, its text and what is live below it, and a chat shows at most 30 a second. Returns whether slices
 * are left.
 */
function usePrintFinished(options: PrintingOptions): boolean {
  const { store, view, isSettled, print, onFailure, elapsed } = options
  const [, redraw] = useState(0)
  const rest = useRef<Rest>(undefined)
  useLayoutEffect(() => {
    const { finished, isLent, isLeaving, turn } = store.getShown()
    const isReady = isSettled || isLeaving || !finished.some(({ block }) => needsLook(block))
    if (finished.length === 0 || isLent || !isReady) return
    const inSlices = !isLeaving && (turn !== undefined || rest.current !== undefined)
    if (inSlices && rest.current?.isOver === false) return
    const begin = elapsed()
    const blocks = inSlices ? takeSlice(finished) : finished
    const printed = { ...view, softWrap: true }
    const lines = drawOrReport(
      () => blocks.flatMap(({ block }) => renderBlock(block, printed)),
      [],
      onFailure,
    )
    print(lines.map((line) => `${line}\n`).join(''))
    const end = elapsed()
    const until = Math.max(2 * end - begin, begin + MIN_SLICE_PERIOD_MS)
    rest.current = blocks.length < finished.length ? { until, isOver: false } : undefined
    store.act({ type: 'printed', upto: blocks.at(-1)!.id })
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
  return current !== undefined
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

/**
 * Reports a drawing failure instead of throwing, so that it does not leave a stack trace in a broken
 * terminal.
 */
function drawOrReport<T>(draw: () => T, instead: T, onFailure: (reason: unknown) => void): T {
  try {
    return draw()
  } catch (reason) {
    onFailure(reason)
    return instead
  }
}

/**
 * The part of the screen that is redrawn on every change. It is always lower than the terminal: Ink clears
 * the screen for a frame as high as the terminal.
 */
function LiveRegion({ sections, rows }: { sections: readonly Section[]; rows: number }): ReactNode {
  const { setCursorPosition } = useCursor()
  const { lines, caret } = fitSections(sections, rows - 1)
  setCursorPosition(caret)
  return (
    <Box flexDirection="column">
      {lines.length > 0 && <Text wrap="truncate">{lines.map((line) => line || ' ').join('\n')}</Text>}
    </Box>
  )
}

/** Redraws the component once a second while something runs; otherwise no timer is set. */
function useClock(isRunning: boolean): void {
  const [, tick] = useState(0)
  useEffect(() => {
    if (!isRunning) return
    const timer = setInterval(() => tick((count) => count + 1), 1_000)
    return () => clearInterval(timer)
  }, [isRunning])
}

/**
 * Returns the look, which is plain at first: the Markdown parser is loaded after the first frame, the
 * highlighter once there is code. The look is settled when nothing that would improve the current content is
 * still loading.
 */
function useLook(color: boolean, hasCode: boolean): { look: Look; isSettled: boolean } {
  const [look, setLook] = useState<Omit<Look, 'color'>>({})
  const [failed, setFailed] = useState({ parse: false, highlight: false })
  const wantsColor = color && hasCode
  useEffect(() => {
    loadParser()
      .then((parse) => setLook((before) => ({ ...before, parse })))
      .then(warmParser)
      .catch(() => setFailed((before) => ({ ...before, parse: true }))) // plain text is readable, too
  }, [])
  useEffect(() => {
    if (!wantsColor) return
    loadHighlighter()
      .then((highlight) => setLook((before) => ({ ...before, highlight })))
      .catch(() => setFailed((before) => ({ ...before, highlight: true })))
  }, [wantsColor])
  const hasParser = failed.parse || look.parse !== undefined
  const hasColor = !wantsColor || failed.highlight || look.highlight !== undefined
  return { look: { ...look, color }, isSettled: hasParser && hasColor }
}

/** Sets the palette of the theme, or of the one that is chosen in the picker. Returns whether it has colors. */
function useTheme(state: ChatState, color: boolean): boolean {
  const { settings, terminalColors } = state
  const theme = getShownTheme(state)
  const palette = useMemo(
    () => makePalette({ theme, colors: settings.colors }, terminalColors),
    [theme, settings.colors, terminalColors],
  )
  setPalette(palette)
  return color && theme !== 'none'
}
