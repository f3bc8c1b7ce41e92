import type { Dispatch } from '../../core/protocol/dispatch.ts'
import type { ChatOptions, ChatPorts, ExpandedMessage } from '../ports.ts'
import type { ChatAction } from '../state/actions.ts'
import type { ChatState } from '../state/types.ts'

/** What a slash command may use. */
export interface SlashContext {
  readonly ports: ChatPorts
  readonly dispatch: Dispatch
  /** Of the chat: they hold besides those of the agent. */
  readonly rules: ChatOptions['rules']
  /** As it is now. */
  state(): ChatState
  act(action: ChatAction): void
  /** Shows another conversation: prints its last messages, and sends to it from now on. */
  openConversation(session: string): Promise<void>
  /** Goes on with another agent, where the sender was with it last. */
  openAgent(agent: string): Promise<void>
  /** Sends a message that is made already; `line`, what was typed for it, stands for it where it is shown. */
  send(line: string, message: ExpandedMessage): void
  /** Says what was typed to the agent, in the turn that runs if one does. */
  say(text: string): void
  /** Begins a new conversation of the pair. */
  startNewConversation(): Promise<void>
  /** Does something that changes the conversation; what is told of it meanwhile is shown afterwards. */
  hold<T>(work: () => Promise<T>): Promise<T>
  leave(): void
}

/** A row of the table: help, completion and dispatch come from it. */
export interface SlashCommand {
  name: string
  aliases?: readonly string[]
  /** As in `[NAME]`; empty for none. */
  args: string
  summary: string
  /** May run while a turn runs. */
  whileBusy: boolean
  run(args: string, context: SlashContext, signal: AbortSignal): Promise<void> | void
}
