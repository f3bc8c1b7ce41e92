import { useApp, useInput, usePaste, useStdout, useWindowSize } from 'ink'
import { type ReactNode, useEffect, useLayoutEffect, useSyncExternalStore } from 'react'
import type { Controller, TerminalControl } from '../controller/controller.ts'
import type { ChatStore } from '../state/store.ts'
import { toKeyPresses, toPaste } from '../text/key.ts'
import { renderBlock } from '../view/block.ts'
import type { StatusLocation } from '../view/frame.ts'
import { hasCode } from '../view/look.ts'
import type { Section } from '../view/section.ts'
import type { RenderContext } from '../view/view.ts'
import { LiveRegion } from './live-region.tsx'
import { toSections } from './sections.ts'
import { useClock } from './use-clock.ts'
import { useLook } from './use-look.ts'

export interface AppProps {
  store: ChatStore
  controller: Controller
  color: boolean
  place: StatusLocation
  /** Receives the function that lends the terminal. */
  onTerminal(lend: TerminalControl['lend']): void
  /** Called when something cannot be drawn, which is a bug in crabtalk. */
  onFailure(reason: unknown): void
  /** Milliseconds since 1970. */
  now(): number
}

/**
 * The chat on the screen: finished blocks go to the scrollback, everything else is drawn in the live region.
 */
export function App(props: AppProps): ReactNode {
  const { store, controller, color, place, onTerminal, onFailure, now } = props
  const state = useSyncExternalStore(store.subscribe, store.get)
  const { columns, rows } = useWindowSize()
  const { look, isSettled } = useLook(color, hasCode(state))
  const view: RenderContext = { ...look, columns, rows, details: state.details }
  const { suspendTerminal, exit } = useApp()
  useLayoutEffect(
    () => onTerminal(async (use) => suspendTerminal(async () => use())),
    [onTerminal, suspendTerminal],
  )
  useInput((input, key) => controller.keys(toKeyPresses(input, key)))
  usePaste((text) => controller.keys([toPaste(text)]))
  useClock(state.turn !== undefined)
  usePrintFinished({ store, view, isSettled, onFailure })
  useEffect(() => controller.resized({ columns, rows }), [controller, columns, rows])
  const { isLeaving } = state
  useEffect(() => {
    if (isLeaving) exit()
  }, [isLeaving, exit])
  const around = { view, place, context: controller.context(), now: now() }
  const sections = drawOrReport<Section[]>(() => (isLeaving ? [] : toSections(state, around)), [], onFailure)
  return <LiveRegion sections={sections} rows={rows} />
}

interface PrintingOptions extends Pick<AppProps, 'store' | 'onFailure'> {
  view: RenderContext
  isSettled: boolean
}

/**
 * Prints finished blocks once, after the frame in which they are no longer live. Printing waits while the
 * terminal is lent, and answers wait for the Markdown parser, because printed text is never redrawn.
 */
function usePrintFinished({ store, view, isSettled, onFailure }: PrintingOptions): void {
  const { write } = useStdout()
  useLayoutEffect(() => {
    const { finished, isLent, isLeaving } = store.get()
    const last = finished.at(-1)
    const isReady = isSettled || isLeaving || finished.every(({ block }) => block.kind !== 'answer')
    if (last === undefined || isLent || !isReady) return
    const lines = drawOrReport(() => finished.flatMap(({ block }) => renderBlock(block, view)), [], onFailure)
    write(lines.map((line) => `${line}\n`).join(''))
    store.act({ type: 'printed', upto: last.id })
  })
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
