import { toCrabError } from '../../core/base/errors.ts'
import { newSearch, withResults } from '../overlays/search.ts'
import type { Search } from '../overlays/types.ts'
import type { ChatPorts } from '../ports.ts'
import type { ChatSearchScope, SearchResults } from '../search/types.ts'
import type { ChatStore } from '../state/store.ts'
import { newestFirst } from '../text/history.ts'

interface LiveSearchOptions {
  store: ChatStore
  ports: Pick<ChatPorts, 'dispatch' | 'cwd' | 'now'>
  /** Aborted when the chat ends. */
  signal: AbortSignal
}

/** The time, in milliseconds, that a search waits for further typing. */
const DEBOUNCE_MS = 80
/** The time, in milliseconds, until a search with partial results runs again. */
const REFRESH_MS = 1_000

/** Runs the open search. A new query aborts the previous one. */
export class LiveSearch {
  readonly #options: LiveSearchOptions
  #stop = new AbortController()
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(options: LiveSearchOptions) {
    this.#options = options
    const { store, signal } = options
    const stop = store.subscribe(() => {
      if (store.get().overlay === undefined) this.#end()
    })
    signal.addEventListener('abort', () => {
      stop()
      this.#end()
    })
  }

  /** Opens a search that gets keys immediately, because the user pressed a key to open it. */
  open(scope: ChatSearchScope, query: string): void {
    const { store } = this.#options
    const { agent, prompt } = store.get()
    const overlay = newSearch({ scope, query, agent, sent: newestFirst(prompt.history) })
    store.act({ type: 'set', change: { overlay } })
    store.act({ type: 'overlay-armed' })
    if (scope !== 'prompts') this.look(false)
  }

  /** Runs the search: debounced when the query is being typed, otherwise immediately. */
  look(isTyped: boolean): void {
    this.#end()
    const stop = new AbortController()
    this.#stop = stop
    if (isTyped) this.#timer = setTimeout(() => void this.#look(stop.signal), DEBOUNCE_MS)
    else void this.#look(stop.signal)
  }

  #end(): void {
    clearTimeout(this.#timer)
    this.#stop.abort()
  }

  async #look(signal: AbortSignal): Promise<void> {
    const search = this.#opened()
    if (search === undefined || search.scope === 'prompts') return
    const found = await this.#find(search, search.scope, signal)
    const opened = this.#opened()
    if (signal.aborted || opened === undefined) return
    this.#options.store.act({ type: 'set', change: { overlay: withResults(opened, found) } })
    if (found.isPartial) this.#timer = setTimeout(() => void this.#look(signal), REFRESH_MS)
  }

  /** Finds the results; a failure is shown in their place. */
  async #find(
    { query }: Search,
    scope: Exclude<ChatSearchScope, 'prompts'>,
    signal: AbortSignal,
  ): Promise<SearchResults> {
    const { store, ports } = this.#options
    try {
      const { searchChat: find } = await import('../search/search-chat.ts')
      const searcher = { ...store.get(), dispatch: ports.dispatch, cwd: ports.cwd, now: ports.now() }
      return await find({ scope, query }, searcher, signal)
    } catch (reason) {
      return { scope, query, items: [], note: toCrabError(reason).message }
    }
  }

  #opened(): Search | undefined {
    const { overlay } = this.#options.store.get()
    return overlay?.kind === 'search' ? overlay : undefined
  }
}
