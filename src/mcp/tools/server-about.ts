import { isObject } from '../../core/base/json.ts'
import { cleanServerText, limitServerText, toPrintableLine } from './server-text.ts'

/**
 * A server's description of itself: untrusted text, made fit to be shown, and the features it offers in
 * addition to tools.
 */
export interface ServerAbout {
  /** One line: its title, or its name if it has none. */
  title: string
  /** At most 1,024 characters. */
  description: string
  /** The server's usage instructions, at most 16,384 characters. Never part of a system prompt. */
  instructions: string
  hasResources: boolean
  hasPrompts: boolean
}

/** Reads the result of the handshake, or of the discovery of MCP 2026-07-28; anything may be missing. */
export function readAbout(handshake: {
  info: unknown
  capabilities: unknown
  instructions: unknown
}): ServerAbout {
  const info = isObject(handshake.info) ? handshake.info : {}
  const capabilities = isObject(handshake.capabilities) ? handshake.capabilities : {}
  return {
    title: toPrintableLine(toPlainText(info['title']) || toPlainText(info['name'])),
    description: limitServerText(toPlainText(info['description'])),
    instructions: cleanServerText(toPlainText(handshake.instructions), MAX_INSTRUCTIONS).trim(),
    hasResources: isObject(capabilities['resources']),
    hasPrompts: isObject(capabilities['prompts']),
  }
}

/** Like readAbout(), for untrusted data from a file; undefined when it is not an object. */
export function recallAbout(value: unknown): ServerAbout | undefined {
  if (!isObject(value)) return undefined
  const { hasResources, hasPrompts, instructions } = value
  const capabilities = {
    ...(hasResources === true && { resources: {} }),
    ...(hasPrompts === true && { prompts: {} }),
  }
  return readAbout({ info: value, capabilities, instructions })
}

function toPlainText(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** The longest instructions of the servers that were measured have 12,100 characters. */
const MAX_INSTRUCTIONS = 16 * 1024
