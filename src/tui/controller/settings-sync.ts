import type { ChatPorts, SettingsResult } from '../ports.ts'
import { toSettingsChange } from '../state/settings.ts'
import type { ChatStore } from '../state/store.ts'

/** Keeps the settings in the state equal to config.toml. */
export class SettingsSync {
  readonly #store: ChatStore
  readonly #ports: Pick<ChatPorts, 'settings'>
  readonly #signal: AbortSignal
  /** The problems that were printed last. */
  #problems = ''
  #isReading = false
  /** Whether the file changed while it was read. */
  #isStale = false

  constructor(
    { store, ports }: { store: ChatStore; ports: Pick<ChatPorts, 'settings'> },
    signal: AbortSignal,
  ) {
    this.#store = store
    this.#ports = ports
    this.#signal = signal
  }

  /** Takes over the settings that the chat starts with, and follows the file from then on. */
  start(first: SettingsResult): void {
    this.#apply(first)
    const watching = this.#ports.settings.watch(() => void this.recheck())
    this.#signal.addEventListener('abort', () => watching[Symbol.dispose](), { once: true })
  }

  /** Reads the file again. Settings that are not valid stay as they were. */
  async recheck(): Promise<void> {
    this.#isStale = true
    if (this.#isReading) return
    this.#isReading = true
    try {
      while (this.#isStale && !this.#signal.aborted) {
        this.#isStale = false
        this.#apply(await this.#ports.settings.read(), true)
      }
    } catch {
      // the file cannot be read now; the settings stay
    } finally {
      this.#isReading = false
    }
  }

  #apply({ settings, problems }: SettingsResult, isLater = false): void {
    const { act, get } = this.#store
    const text = problems.join('\n')
    if (problems.length > 0 && text !== this.#problems) {
      const hint = settings
        ? undefined
        : `the settings of the chat ${isLater ? 'stay as they were' : 'have their defaults'}`
      act({ type: 'print', block: { kind: 'notice', tone: 'warning', text, hint } })
    }
    this.#problems = text
    const change = settings && toSettingsChange(get(), settings)
    if (change) act({ type: 'set', change })
  }
}
