import type { Attachment } from '../../core/base/message.ts'

/** A message that a server has ready. Words are the server's: untrusted, made printable, capped. */
export interface PromptView {
  /** As the server takes it; without blanks and control characters. */
  name: string
  description: string
  arguments: readonly PromptArgumentView[]
}

/** A blank in a prompt. */
export interface PromptArgumentView {
  name: string
  description: string
  isRequired: boolean
}

/** A part of a prompt that is filled in. */
export interface PromptMessage {
  role: 'user' | 'assistant'
  content: string
  attachments: readonly Attachment[]
}
