import type { ChatSearchScope, SearchResults } from '../search/types.ts'
import type { Memoize } from '../view/memoize-last.ts'

/** Something that covers the prompt and gets the keys: a list, a table, a text, a line to type. Replaced, never mutated. */
export type Overlay = Picker | Panel | PageOverlay | Search | MenuOverlay | Entry

/** A list to choose from, filtered by typing. */
export interface Picker {
  kind: 'picker'
  /** The kind of choice, returned in the `chosen` effect. */
  picker: string
  /** The subject of the choice, returned in the `chosen` effect as its key. */
  subject?: string
  title: string
  items: readonly PickerItem[]
  filter: string
  /** The index among the filtered items. */
  selected: number
  /** The scope in which Tab searches for the filter instead. */
  widerScope?: ChatSearchScope
  /** The places to which the choice may apply, for example `this conversation`; Tab goes to the next. */
  targets?: { names: readonly string[]; selected: number }
  /** The stored level of the first target, such as a reasoning effort; empty for the default. */
  level?: string
  /** The level that the user has set in the picker; undefined until then, so that stored levels stay as they are. */
  newLevel?: string
  /** Whether a sample of the colors is shown below the items. */
  hasSample?: boolean
}

/** An item of a picker. */
export interface PickerItem {
  value: string
  label: string
  /** Shown beside the label, dim. */
  detail: string
  /** Whether this is the current value. */
  isCurrent?: boolean
  /** The levels that the left and right arrows choose from, in ascending order, besides the default. */
  levels?: readonly string[]
}

/** A table whose rows can be acted on, each action by its own key. */
export interface Panel {
  kind: 'panel'
  /** The kind of panel, returned in the `chosen` effect together with the key. */
  picker: string
  title: string
  header: readonly string[]
  /** Whether the last column may use all the space that is left. */
  hasWideEnd?: boolean
  rows: readonly PanelRow[]
  selected: number
  keys: readonly PanelKey[]
  /** The result of the last action, or the action in progress. */
  note: string
  /** The value of the row that the note is about, the only one below which it is shown; undefined for all rows. */
  noteOf?: string | undefined
  /** The key that must be pressed again for the selected row. */
  asked?: string | undefined
  /** Identifies what keeps it current; a panel that is opened again has another one. */
  refresher?: object
}

/** A key of a panel or page and its action. */
export interface PanelKey {
  key: string
  label: string
  /** The action as an infinitive, such as `disable it`. When set, the key must be pressed twice. */
  confirm?: string
}

/** A row of a panel. */
export interface PanelRow {
  value: string
  cells: readonly string[]
  /** The problem of the row; empty when there is none. */
  problem: string
  /** The keys of this row, if they differ from those of the panel. */
  keys?: readonly PanelKey[]
}

/** A text to read. */
export interface PageOverlay {
  kind: 'page'
  title: string
  text: string
  /** Lays the text out for a number of columns; by default its lines are wrapped. */
  layOut?: (columns: number) => string
  /** Memoises the wrapped rows of the text. */
  rows: Memoize<readonly string[]>
  /** The number of rows scrolled off the top. */
  scroll: number
  /** The overlay to return to when the page is closed. */
  back: Overlay | undefined
  /** The keys that act on the subject of the page. */
  action?: PageAction | undefined
}

/** The keys of a page, like those of a panel with one row. */
export interface PageAction {
  picker: string
  value: string
  keys: readonly PanelKey[]
  /** The key that must be pressed again. */
  asked?: string | undefined
}

/** A search that updates while the user types. */
export interface Search {
  kind: 'search'
  scope: ChatSearchScope
  query: string
  /** The agent whose memory is searched. */
  agent: string
  /** The sent texts, newest first, without duplicates. */
  sent: readonly string[]
  /** The last results, possibly for an earlier query or scope. */
  results: SearchResults
  selected: number
}

/** A few choices with numbers. */
export interface MenuOverlay {
  kind: 'menu'
  /** The kind of choice, returned in the `chosen` effect. */
  picker: string
  /** The subject of the choice, returned in the `chosen` effect as its key. */
  subject: string
  title: string
  /** The reason for the choice, such as a failure; may be empty. */
  note: string
  items: readonly MenuItem[]
  selected: number
  /** The overlay to return to with Esc. */
  back?: Overlay | undefined
  /** Whether typed text closes the menu and goes into the prompt, because the user did not ask for the menu. */
  yieldsToText: boolean
  /** The digits that were typed to select; they belong to the text when more text follows. */
  typed: string
  /** Whether a choice is being carried out. */
  isBusy: boolean
}

/** An item of a menu. */
export interface MenuItem {
  value: string
  label: string
  /** Shown beside the label, dim. */
  detail: string
}

/** One line to type, such as a key. */
export interface Entry {
  kind: 'entry'
  /** The kind of text, returned in the `chosen` effect. */
  picker: string
  /** The subject of the text, returned in the `chosen` effect as its key. */
  subject: string
  title: string
  text: string
  /** Whether the text is shown as dots. */
  isSecret: boolean
  /** The reason why the last text was refused, until another one is typed; empty when there is none. */
  problem: string
  /** Advice below the line. */
  help: string
  /** Whether Enter submits an empty text. */
  allowsEmpty: boolean
  /** The overlay to return to with Esc. */
  back?: Overlay | undefined
  /** Whether the text was submitted and is being used. */
  isBusy: boolean
}
