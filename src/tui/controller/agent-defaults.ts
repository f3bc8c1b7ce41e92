import { request } from '../../core/protocol/dispatch.ts'
import type { ChatPorts, ModeName } from '../ports.ts'
import type { ChatStore } from '../state/store.ts'
import { findAgent, readAgentSetting, toUsual } from '../state/usual-model.ts'

interface DefaultsContext {
  store: ChatStore
  ports: Pick<ChatPorts, 'dispatch'>
}

/**
 * Shows the approval mode, the model and the effort that the agent's file or config.toml sets, now and whenever
 * the chat switches to another conversation. What the user has chosen takes their place. Throws when the models
 * cannot be listed at first.
 */
export async function followAgentDefaults(
  { store, ports }: DefaultsContext,
  signal: AbortSignal,
): Promise<void> {
  let { agent, sender } = store.get()
  const stop = store.subscribe(() => {
    if (store.get().agent === agent && store.get().sender === sender) return
    ;({ agent, sender } = store.get())
    load().catch(() => undefined) // the turns of the agent report the reason
  })
  signal.addEventListener('abort', stop, { once: true })
  await load()

  async function load(): Promise<void> {
    const name = agent
    const listing = request(ports.dispatch, 'listModels', {}, signal)
    const [file, listed] = await Promise.all([
      findAgent(ports.dispatch, name, signal).catch(() => undefined), // its turns report the reason
      listing.catch(() => undefined), // thrown below
    ])
    const { chosenMode, mode: shown, agent: current } = store.get()
    if (current !== name) return
    const usualMode = MODES.find((one) => one === readAgentSetting(file, 'mode')) ?? 'ask'
    const mode = chosenMode ?? usualMode
    if (mode !== shown || usualMode !== store.get().usualMode)
      store.act({ type: 'set', change: { mode, usualMode } })
    const list = listed ?? (await listing)
    store.act({ type: 'usual', usual: toUsual(file, list), models: list.models })
  }
}

const MODES: readonly ModeName[] = ['ask', 'edits', 'plan', 'read-only']
