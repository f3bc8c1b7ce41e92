import { lazy } from '../../core/base/lazy.ts'
import type { ChatOptions, ChatPorts } from '../ports.ts'
import type { SlashContext } from '../slash/types.ts'
import type { ChatEffect } from '../text/effects.ts'
import type { PromptContext } from '../text/prompt-state.ts'
import { type OpenContext, openAgent, openConversation, startNewConversation } from './conversations.ts'

/** Runs slash commands and the choices made in their pickers. */
export interface Commands {
  /** The entries of the prompt's menu. */
  readonly list: NonNullable<PromptContext['commands']>
  run(line: string, signal: AbortSignal): Promise<void>
  /** Whether a line that looks like a command is meant for the agent, and so can be queued like a message. */
  isForAgent(line: string, signal: AbortSignal): Promise<boolean>
  chosen(effect: ChatEffect & { type: 'chosen' }, signal: AbortSignal): Promise<void>
  /** Offers to connect a model if the chat has none. */
  offerConnect(signal: AbortSignal): Promise<void>
}

/**
 * Whether a text is a command: a slash and a word, or a server's name and a colon. A path is not, because
 * another slash follows.
 */
export function isCommand(text: string): boolean {
  return /^\/(?:[^\s/]*(\s|$)|[a-z0-9][a-z0-9_-]{0,31}:\S)/.test(text)
}

/** The dependencies of the slash commands of a chat. */
export interface SlashParts
  extends OpenContext,
    Pick<SlashContext, 'leave' | 'send' | 'say' | 'putBack' | 'addContext' | 'showBlocks'> {
  ports: ChatPorts
  rules: ChatOptions['rules']
}

/** Builds the context of slash commands, valid until the signal aborts. */
export function slashContext(parts: SlashParts, signal: AbortSignal): SlashContext {
  const { store, ports, rules, feed, leave, send, say, putBack, addContext, showBlocks } = parts
  return {
    ports,
    dispatch: ports.dispatch,
    rules,
    state: store.get,
    act: store.act,
    subscribe: store.subscribe,
    openConversation: (session) => openConversation(parts, session, signal),
    openAgent: (agent) => openAgent(parts, agent, signal),
    startNewConversation: (agent = store.get().agent) => startNewConversation(parts, agent, signal),
    hold: (work) => feed.hold(work),
    send,
    say,
    putBack,
    addContext,
    showBlocks,
    leave,
    lifetime: signal,
  }
}

/** Loads the slash commands after the first frame. Until then the menu is empty. */
export function loadCommands(context: SlashContext): Commands & { load(): void } {
  const table = lazy(() => import('../slash/commands.ts'))
  const runner = lazy(() => import('../slash/run.ts'))
  let list: Commands['list'] = []
  return {
    get list() {
      return list
    },
    load() {
      void table.get().then(({ SLASH_COMMANDS }) => {
        list = SLASH_COMMANDS
      })
    },
    isForAgent: async (line, signal) => (await runner.get()).isForAgent(line, context, signal),
    run: async (line, signal) => (await runner.get()).runSlash(line, context, signal),
    chosen: async (effect, signal) => (await runner.get()).onChosen(effect, context, signal),
    async offerConnect(signal) {
      const isDemo = context
        .state()
        .models.some(({ active, providerName }) => active && providerName === 'demo')
      if (isDemo) await (await import('../slash/connect.ts')).offerConnect(context, signal)
    },
  }
}
