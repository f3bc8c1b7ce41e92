import type { ChatSearchScope, SearchResults } from '../search/types.ts'
import type { Memoize } from '../view/memoize-last.ts'

/** What stands over the prompt and has the keys: a list to choose from, a search, or a page to read. Replaced, never changed. */
export type Overlay = Picker | Panel | PageOverlay | Search

/** A list to choose from, narrowed by what is typed. */
export interface Picker {
  kind: 'picker'
  /** Says what was chosen: comes back in the effect `chosen`. */
  picker: string
  title: string
  items: readonly PickerItem[]
  filter: string
  /** Place among the items that the filter leaves. */
  selected: number
  /** Tab looks for the filter there instead. */
  widerScope?: ChatSearchScope
}

export interface PickerItem {
  value: string
  label: string
  /** Beside the label, dim. */
  detail: string
  /** It is what holds now. */
  isCurrent?: boolean
}

/** A table whose rows something can be done to, each thing by a key of its own. */
export interface Panel {
  kind: 'panel'
  /** As of a picker; the key comes back in the effect, too. */
  picker: string
  title: string
  header: readonly string[]
  rows: readonly PanelRow[]
  selected: number
  keys: readonly PanelKey[]
  /** What was done last, or is being done. */
  note: string
  /** The key that is to be pressed again for the selected row. */
  asked?: string | undefined
}

export interface PanelKey {
  key: string
  label: string
  /** What it would do, as in `disables it`: it does so only when it is pressed again. */
  asksAgain?: string
}

export interface PanelRow {
  value: string
  cells: readonly string[]
  /** What is wrong with it; empty when nothing is. */
  problem: string
}

/** A text to read. */
export interface PageOverlay {
  kind: 'page'
  title: string
  text: string
  /** The text as rows. */
  rows: Memoize<readonly string[]>
  /** Rows that are scrolled away at the top. */
  scroll: number
  /** What stands there again when it is closed. */
  back: Overlay | undefined
  /** What can be done with it. */
  action?: PageAction | undefined
}

/** Keys of a page: as those of a panel with one row. */
export interface PageAction {
  picker: string
  value: string
  keys: readonly PanelKey[]
  /** The key that is to be pressed again. */
  asked?: string | undefined
}

/** A search that goes on while its words are typed. */
export interface Search {
  kind: 'search'
  scope: ChatSearchScope
  query: string
  /** Whose memory is searched. */
  agent: string
  /** What was sent, newest first, each once. */
  sent: readonly string[]
  /** What was found last: perhaps not yet for these words, or not there. */
  results: SearchResults
  selected: number
}
