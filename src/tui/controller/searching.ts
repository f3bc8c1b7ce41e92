import { toCrabError } from '../../core/base/errors.ts'
import { newSearch, withFound } from '../overlays/search.ts'
import type { Search } from '../overlays/types.ts'
import type { ChatPorts } from '../ports.ts'
import type { FoundList, SearchScope } from '../search/types.ts'
import type { ChatStore } from '../state/store.ts'
import { newestFirst } from '../text/history.ts'

interface Setting {
  store: ChatStore
  ports: Pick<ChatPorts, 'dispatch' | 'cwd' | 'now'>
  /** Aborted when the chat is over. */
  signal: AbortSignal
}

/** How long, milliseconds, a search waits for more to be typed. */
const PAUSE_MS = 80
/** How long, milliseconds, until it looks again while there may be more. */
const AGAIN_MS = 1_000

/** Looks for what the open search asks for; what was asked before is given up. */
export class Searching {
  readonly #setting: Setting
  #stop = new AbortController()
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(setting: Setting) {
    this.#setting = setting
    const { store, signal } = setting
    const stop = store.subscribe(() => {
      if (store.get().overlay === undefined) this.#end()
    })
    signal.addEventListener('abort', () => {
      stop()
      this.#end()
    })
  }

  /** Opens a search whose keys are its own at once: somebody asked for it with a key. */
  open(scope: SearchScope, query: string): void {
    const { store } = this.#setting
    const { agent, prompt } = store.get()
    const overlay = newSearch({ scope, query, agent, sent: newestFirst(prompt.history) })
    store.act({ type: 'set', change: { overlay } })
    store.act({ type: 'overlay-armed' })
    if (scope !== 'prompts') this.look(false)
  }

  /** Looks at once, or in a moment when more may be typed. */
  look(isTyped: boolean): void {
    this.#end()
    const stop = new AbortController()
    this.#stop = stop
    if (isTyped) this.#timer = setTimeout(() => void this.#look(stop.signal), PAUSE_MS)
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
    this.#setting.store.act({ type: 'set', change: { overlay: withFound(opened, found) } })
    if (found.isPartial) this.#timer = setTimeout(() => void this.#look(signal), AGAIN_MS)
  }

  /** A failure is told where the results would stand. */
  async #find(
    { query }: Search,
    scope: Exclude<SearchScope, 'prompts'>,
    signal: AbortSignal,
  ): Promise<FoundList> {
    const { store, ports } = this.#setting
    try {
      const { find } = await import('../search/find.ts')
      const searcher = { ...store.get(), dispatch: ports.dispatch, cwd: ports.cwd, now: ports.now() }
      return await find({ scope, query }, searcher, signal)
    } catch (reason) {
      return { scope, query, items: [], note: toCrabError(reason).message }
    }
  }

  #opened(): Search | undefined {
    const { overlay } = this.#setting.store.get()
    return overlay?.kind === 'search' ? overlay : undefined
  }
}
