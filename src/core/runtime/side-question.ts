import { wrapInTag } from '../base/wrap-text.ts'
import type { NewLine } from '../storage/types.ts'
import {
  type ConversationStart,
  type ConversationStores,
  LeasedConversation,
  readConversation,
} from './leased-conversation.ts'

interface SideStores {
  /** The stores of the conversation that the question is about. */
  stores: ConversationStores
  /** The stores in which the question is answered. */
  scratch: ConversationStores
}

/**
 * Opens a copy of the pair's active conversation as it is stored now, with the question as its last message. It waits
 * for no turn. The copy is deleted when the result is disposed.
 */
export async function openSideConversation(
  { stores, scratch }: SideStores,
  start: ConversationStart & { id: string },
  signal: AbortSignal,
): Promise<LeasedConversation> {
  const { pair, header, first, id } = start
  const active = await stores.storage.activeSession(pair)
  const source = active === undefined ? undefined : await readConversation(stores, active, header.agent)
  const messages = source?.conversation.history.messages ?? []
  const before = messages.map((message): NewLine => ({ kind: 'entry', ...message }))
  const sender = `side:${id}`
  const cwd = source?.conversation.header.cwd ?? header.cwd
  const copy = { pair: { ...pair, sender }, header: { ...header, created_by: sender, cwd }, first, before }
  return await LeasedConversation.lease(scratch, copy, signal)
}

/** Returns a resource that deletes the copy. */
export function deletesSideConversation(
  { storage, cache }: ConversationStores,
  { id }: LeasedConversation,
): AsyncDisposable {
  return {
    async [Symbol.asyncDispose]() {
      cache.delete(id)
      await storage.deleteSession(id)
    },
  }
}

/** Marks a question for the model, which finds it below the messages of other work. */
export function toSideQuestion(content: string): string {
  return wrapInTag('side_question', {}, content)
}
