import type { Dispatch } from '../../core/protocol/dispatch.ts'
import type { AttachedFile, ChatOptions, ChatPorts, ExpandedMessage } from '../ports.ts'
import type { ChatAction } from '../state/actions.ts'
import type { ChatState } from '../state/types.ts'
import type { Block } from '../view/blocks.ts'

/** The dependencies of slash commands. */
export interface SlashContext {
  readonly ports: ChatPorts
  readonly dispatch: Dispatch
  /** The rules of the chat, which apply in addition to those of the agent. */
  readonly rules: ChatOptions['rules']
  /** Returns the current state. */
  state(): ChatState
  act(action: ChatAction): void
  /** Calls back after every change of the state, until the result is called. */
  subscribe(listener: () => void): () => void
  /** Opens another conversation: prints its last messages and sends to it from then on. */
  openConversation(session: string): Promise<void>
  /** Switches to another agent, in its last conversation in this directory. */
  openAgent(agent: string): Promise<void>
  /** Sends a prepared message; `line` is its text on the screen. */
  send(line: string, message: ExpandedMessage): void
  /** Makes the files of a sent message part of the next one, and returns its text with their labels. */
  putBack(text: string, files: readonly AttachedFile[]): string
  /** Adds context for the agent that is sent with the next message. */
  addContext(text: string): void
  /** Sends typed text to the agent, as a steer when a turn is running. */
  say(text: string): void
  /** Starts a new conversation, by default with the same agent. */
  startNewConversation(agent?: string): Promise<void>
  /** Runs work that changes the conversation. Updates that arrive meanwhile are shown afterwards. */
  hold<T>(work: () => Promise<T>): Promise<T>
  /** Shows blocks in a viewer, or prints them where there is no screen. */
  showBlocks(title: string, blocks: readonly Block[]): Promise<void>
  leave(): void
  /** Aborted when the chat ends; for work that outlives its command. */
  readonly lifetime: AbortSignal
}

/** A row of the command table, which drives help, completion and dispatch. */
export interface SlashCommand {
  name: string
  aliases?: readonly string[]
  /** The arguments, such as `[NAME]`; empty for none. */
  args: string
  summary: string
  /** Whether a skill of the same name takes its place. */
  yieldsToSkill?: boolean
  /** Whether it may run during a turn. */
  whileBusy: boolean
  run(args: string, context: SlashContext, signal: AbortSignal): Promise<void> | void
}
