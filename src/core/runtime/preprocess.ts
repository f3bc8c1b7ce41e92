import { join } from 'node:path'
import type { Attachment } from '../base/message.ts'
import type { AgentConfig } from '../config/agent-schema.ts'
import type { EventChannel } from './event-channel.ts'
import type { Hook } from './hook.ts'
import type { TurnRequest } from './turn-request.ts'

/** Turns typed text into what the model reads; `typed` is set when the two differ. */
export type Preprocess = (
  content: string,
) => Promise<{ content: string; typed?: string; attachments?: Attachment[] }>

/** The parts of the runtime that preprocessing needs. */
interface PreprocessOptions {
  hook: Hook
  /** The folder for the rest of text that is too long. */
  spill: string
  /** Folders that are deleted with the runtime; those of turns that are not stored are added. */
  unsaved: Set<string>
  newId(): string
}

/** Returns the function that lets hooks rewrite the messages of one turn. */
export function preprocessor(
  { hook, spill, unsaved, newId }: PreprocessOptions,
  { trust, settings }: TurnRequest,
  turn: { agent: AgentConfig; channel: EventChannel; signal: AbortSignal },
): Preprocess {
  const { agent, channel, signal } = turn
  return async (content) => {
    if (!hook.preprocess) return { content }
    const spillDir = join(spill, settings.ephemeral ? `messages-${newId()}` : 'messages')
    if (settings.ephemeral) unsaved.add(spillDir)
    const attachments: Attachment[] = []
    const notice = (text: string) => channel.push({ type: 'notice', message: text })
    const attach = (file: Attachment) => attachments.push(file)
    const message = { agent, content, trust, spillDir, notice, attach }
    const rewritten = (await hook.preprocess(message, signal)) ?? content
    return {
      content: rewritten,
      ...(rewritten !== content && { typed: content }),
      ...(attachments.length > 0 && { attachments }),
    }
  }
}
