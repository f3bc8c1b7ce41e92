import { parseObject } from '../../core/base/json.ts'
import { request } from '../../core/protocol/dispatch.ts'
import type { ChatPorts, ModeName } from '../ports.ts'
import type { ChatStore } from '../state/store.ts'

/**
 * Shows the approval mode of the agent's file, now and whenever the chat switches to another agent, as long as
 * the user has not chosen one.
 */
export async function followAgentMode(
  { store, ports }: { store: ChatStore; ports: Pick<ChatPorts, 'dispatch'> },
  signal: AbortSignal,
): Promise<void> {
  let { agent } = store.get()
  const stop = store.subscribe(() => {
    if (store.get().agent === agent) return
    agent = store.get().agent
    void load()
  })
  signal.addEventListener('abort', stop, { once: true })
  await load()

  async function load(): Promise<void> {
    const mode = await readAgentMode(agent, ports, signal).catch(() => 'ask' as const) // its turns report the reason
    if (store.get().chosenMode === undefined && mode !== store.get().mode)
      store.act({ type: 'set', change: { mode } })
  }
}

async function readAgentMode(
  name: string,
  { dispatch }: Pick<ChatPorts, 'dispatch'>,
  signal: AbortSignal,
): Promise<ModeName> {
  const { agents } = await request(dispatch, 'listAgents', {}, signal)
  const agent = agents.find((one) => one.name === name) // the default agent may not have a file yet
  const mode = parseObject(agent?.config ?? '')?.['mode']
  return MODES.find((one) => one === mode) ?? 'ask'
}

const MODES: readonly ModeName[] = ['ask', 'edits', 'plan', 'read-only']
