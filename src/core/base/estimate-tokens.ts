import type { Message } from './message.ts'

/**
 * Estimates the tokens of a text: four bytes a token, which is one for a Chinese, Japanese or Korean character.
 * Without the model's own tokenizer no better estimate exists.
 */
export function estimateTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN)
}

/** Estimates the tokens of a message: its text, tool calls and attachments, and the role around them. */
export function estimateMessageTokens({
  content,
  attachments = [],
  tool_calls: calls = [],
}: Message): number {
  const called = calls.reduce((sum, call) => sum + estimateTokens(call.name + call.arguments), 0)
  return ROLE_TOKENS + estimateTokens(content) + called + attachments.length * ATTACHMENT_TOKENS
}

/** Estimates the tokens of a tool's definition. */
export function estimateToolTokens(name: string, description: string, schema: object): number {
  return estimateTokens(JSON.stringify([[name, description, schema]]))
}

const BYTES_PER_TOKEN = 4
const ROLE_TOKENS = 4
/** About what providers count for an image of medium size. */
const ATTACHMENT_TOKENS = 1500
