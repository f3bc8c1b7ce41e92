import type { ChatState } from '../state/types.ts'
import type { Section } from './section.ts'
import type { View } from './view.ts'

/** Where the chat runs, for the status line. */
export interface ShownPlace {
  shownCwd: string
  kind: 'process' | 'daemon'
}

/** One line: who speaks with which model, how full the context is, what it cost, where. */
export function renderStatus(state: ChatState, place: ShownPlace, _view: View): Section {
  return { lines: [`${state.agent} · ${state.model} · ${place.shownCwd}`], cut: 'tail', rank: 5 }
}

/** What the running turn does, and what waits for it; nothing when none runs. `now`: milliseconds since 1970. */
export function renderWorking(state: ChatState, now: number, _view: View): Section {
  const { turn } = state
  const lines = turn ? [`${turn.doing} ${Math.round((now - turn.startedAt) / 1000)} s`] : []
  return { lines, cut: 'tail', rank: 3 }
}
