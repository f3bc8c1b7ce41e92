import { lazy } from '../../core/base/lazy.ts'
import type { ChatOptions, ChatPorts } from '../ports.ts'
import type { SlashContext } from '../slash/types.ts'
import type { ChatEffect } from '../state/effects.ts'
import type { ChatStore } from '../state/store.ts'
import type { PromptContext } from '../text/prompt.ts'
import { openConversation, startNewConversation } from './conversations.ts'
import type { Feed } from './feed.ts'

/** Slash commands and what is chosen in their pickers. */
export interface Commands {
  /** For the prompt's menu. */
  readonly list: NonNullable<PromptContext['commands']>
  run(line: string, signal: AbortSignal): Promise<void>
  /** Whether a line that looks like a command is one for the agent, and can wait as its messages do. */
  isForAgent(line: string, signal: AbortSignal): Promise<boolean>
  chosen(effect: ChatEffect & { type: 'chosen' }, signal: AbortSignal): Promise<void>
}

/** A command begins with a slash and a word, or a server's name and a colon; a path goes on with another slash. */
export function isCommand(text: string): boolean {
  return /^\/(?:[^\s/]*(\s|$)|[a-z0-9][a-z0-9_-]{0,31}:\S)/.test(text)
}

/** What the slash commands of a chat may use, until the signal is aborted. */
export function slashContext(
  {
    store,
    ports,
    rules,
    feed,
    leave,
    send,
    say,
  }: { store: ChatStore; ports: ChatPorts; rules: ChatOptions['rules']; feed: Feed } & Pick<
    SlashContext,
    'leave' | 'send' | 'say'
  >,
  signal: AbortSignal,
): SlashContext {
  return {
    ports,
    dispatch: ports.dispatch,
    rules,
    state: store.get,
    act: store.act,
    openConversation: (session) => openConversation({ store, ports, feed }, session, signal),
    openAgent: (agent) => feed.follow({ agent, sender: store.get().sender }, 'agent', signal),
    startNewConversation: () => startNewConversation({ store, ports, feed }, store.get(), signal),
    hold: (work) => feed.hold(work),
    send,
    say,
    leave,
  }
}

/** The slash commands, loaded when the first frame stands: what is typed before finds an empty menu. */
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
  }
}
