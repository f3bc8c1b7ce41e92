import { useApp, useInput, usePaste, useStdout, useWindowSize } from 'ink'
import { type ReactNode, useEffect, useLayoutEffect, useSyncExternalStore } from 'react'
import type { Controller, TerminalControl } from '../controller/controller.ts'
import type { ChatState } from '../state/types.ts'
import type { ChatStore } from '../store.ts'
import { toKeyPresses, toPaste } from '../text/key.ts'
import { renderBlock } from '../view/block.ts'
import type { ShownPlace } from '../view/frame.ts'
import type { View } from '../view/view.ts'
import { LiveRegion } from './live-region.tsx'
import { toSections } from './sections.ts'
import { useClock } from './use-clock.ts'
import { useLook } from './use-look.ts'

export interface AppProps {
  store: ChatStore
  controller: Controller
  color: boolean
  place: ShownPlace
  /** Takes over what the app can do with the terminal. */
  onTerminal(lend: TerminalControl['lend']): void
  /** Milliseconds since 1970. */
  now(): number
}

/** The chat on the screen: what is finished goes to the scrollback, what is not stands in the live region. */
export function App({ store, controller, color, place, onTerminal, now }: AppProps): ReactNode {
  const state = useSyncExternalStore(store.subscribe, store.get)
  const { columns, rows } = useWindowSize()
  const look = useLook(color)
  const view: View = { ...look, columns, rows, details: state.details }
  const { suspendTerminal, exit } = useApp()
  useLayoutEffect(
    () => onTerminal(async (use) => suspendTerminal(async () => use())),
    [onTerminal, suspendTerminal],
  )
  useInput((input, key) => {
    for (const pressed of toKeyPresses(input, key)) controller.key(pressed)
  })
  usePaste((text) => controller.key(toPaste(text)))
  useClock(state.turn !== undefined)
  usePrinted(store, view)
  const { isLeaving } = state
  useEffect(() => {
    if (isLeaving) exit()
  }, [isLeaving, exit])
  const sections = isLeaving
    ? []
    : toSections(state, { view, place, context: controller.context(), now: now() })
  return <LiveRegion sections={sections} rows={rows} />
}

/** Prints what is finished, once, behind the frame in which it is no longer live. */
function usePrinted(store: ChatStore, view: View): void {
  const { write } = useStdout()
  useLayoutEffect(() => {
    const { finished } = store.get()
    const last = finished.at(-1)
    if (last === undefined || !isReadyFor(finished, view)) return
    const lines = finished.flatMap(({ block }) => renderBlock(block, view))
    write(lines.map((line) => `${line}\n`).join(''))
    store.act({ type: 'printed', upto: last.id })
  })
}

/** What is printed is never printed anew: Markdown waits for its parser. */
function isReadyFor(finished: ChatState['finished'], { parse }: View): boolean {
  return parse !== undefined || finished.every(({ block }) => block.kind !== 'answer')
}
