import { Box, Text, useApp, useCursor, useInput, usePaste, useWindowSize } from 'ink'
import { type ReactNode, useEffect, useLayoutEffect, useMemo, useState, useSyncExternalStore } from 'react'
import type { Controller, TerminalControl } from '../controller/controller.ts'
import type { ChatStore } from '../state/store.ts'
import { getShownTheme } from '../state/theme.ts'
import type { ChatState } from '../state/types.ts'
import type { Screen } from '../terminal/screen.ts'
import { toKeyPresses, toPaste } from '../text/key.ts'
import { renderBlock } from '../view/block.ts'
import type { NumberedBlock } from '../view/blocks.ts'
import { hasCode, type Look, loadHighlighter, loadParser, warmParser } from '../view/look.ts'
import { makePalette } from '../view/palette.ts'
import { fitSections, type Section } from '../view/section.ts'
import { setPalette } from '../view/style.ts'
import { measureWidth, truncateText } from '../view/text.ts'
import type { RenderContext } from '../view/view.ts'
import { usePrintFinished } from './print-finished.ts'
import { type ChatLocation, toSections } from './sections.ts'

export interface AppProps {
  store: ChatStore
  controller: Controller
  color: boolean
  location: ChatLocation
  /** The terminal, which draws printed text and the live region together. */
  screen: Pick<Screen, 'print' | 'show'>
  /** Receives the function that lends the terminal. */
  onTerminal(lend: TerminalControl['lend']): void
  /** Called when something cannot be drawn, which is a bug in crabtalk. */
  onFailure(reason: unknown): void
  /** Collects the garbage of drawing, if there is some. */
  collectYoung(): void
  /** Milliseconds since 1970. */
  now(): number
  /** Milliseconds of a clock that never jumps. */
  elapsed(): number
}

/**
 * The chat on the screen: finished blocks go to the scrollback, everything else is drawn in the live region.
 */
export function App(props: AppProps): ReactNode {
  const { store, controller, color, location, screen, onTerminal, onFailure, collectYoung, now, elapsed } =
    props
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
  const print = (blocks: readonly NumberedBlock[]) => {
    const printed = { ...view, softWrap: true }
    const draw = ({ block }: NumberedBlock) => {
      collectYoung() // a slice of a long answer makes 10 MB of garbage
      return renderBlock(block, printed)
    }
    const lines = drawOrReport(() => blocks.flatMap(draw), [], onFailure)
    screen.print(lines.map((line) => `${line}\n`).join(''))
  }
  const { waiting, ...held } = usePrintFinished({ store, state, view, isSettled, print, elapsed })
  useEffect(() => controller.resized({ columns, rows }), [controller, columns, rows])
  useEffect(collectYoung)
  const { isLeaving } = state
  useEffect(() => {
    if (isLeaving) exit()
  }, [isLeaving, exit])
  const shown = { ...state, ...held }
  const around = { view, location, context: controller.context(shown), now: now() }
  const draw = () => (isLeaving ? [] : [renderWaiting(waiting, view), ...toSections(shown, around)])
  const sections = drawOrReport<Section[]>(draw, [], onFailure)
  return <LiveRegion sections={sections} view={view} screen={screen} />
}

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

/** Renders the newest lines of the finished blocks that cannot be printed yet. */
function renderWaiting(blocks: readonly NumberedBlock[], view: RenderContext): Section {
  let lines: string[] = []
  for (const { block } of blocks.toReversed()) {
    if (lines.length >= view.rows) break
    lines = [...renderBlock(block, view), ...lines]
  }
  return { lines: lines.slice(-view.rows), cut: 'head', rank: 1 }
}

interface LiveRegionProps extends Pick<AppProps, 'screen'> {
  sections: readonly Section[]
  view: RenderContext
}

/**
 * The part of the screen that is redrawn on every change. It is always lower than the terminal: Ink clears
 * the screen for a frame as high as the terminal.
 */
function LiveRegion({ sections, view: { columns, rows }, screen }: LiveRegionProps): ReactNode {
  const { setCursorPosition } = useCursor()
  const { lines: fitted, caret } = fitSections(sections, rows - 1)
  const lines = fitted.map((line) => (measureWidth(line) > columns ? truncateText(line, columns) : line))
  setCursorPosition(caret)
  useLayoutEffect(() => screen.show({ lines, caret }))
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
