import type { Attachment } from '../../core/base/message.ts'

/** A prompt that a server offers. The texts are the server's: untrusted, made printable, truncated. */
export interface PromptView {
  /** The name as the server expects it; without spaces and control characters. */
  name: string
  description: string
  arguments: readonly PromptArgumentView[]
}

/** An argument of a prompt. */
export interface PromptArgumentView {
  name: string
  description: string
  isRequired: boolean
}

/** A message of a prompt with its arguments filled in. */
export interface PromptMessage {
  role: 'user' | 'assistant'
  content: string
  attachments: readonly Attachment[]
}
