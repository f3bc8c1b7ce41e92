import { isObject } from '../../core/base/json.ts'
import { limitDescription } from '../tools/description.ts'
import { toPrintableLine } from '../tools/remote-tool.ts'

/** What a server says of itself when it is connected: untrusted words, fit to be shown, and what it has besides tools. */
export interface ServerAbout {
  /** One line; its title, or else its name. */
  title: string
  /** At most 1 KiB. */
  description: string
  /** How it wants to be used, at most 4 KiB. Never a part of a system prompt. */
  instructions: string
  hasResources: boolean
  hasPrompts: boolean
}

/** Reads what the handshake, or the discovery of MCP 2026-07-28, has given; anything may be missing. */
export function readAbout(given: {
  info: unknown
  capabilities: unknown
  instructions: unknown
}): ServerAbout {
  const info = isObject(given.info) ? given.info : {}
  const capabilities = isObject(given.capabilities) ? given.capabilities : {}
  return {
    title: toPrintableLine(toPlainText(info['title']) || toPlainText(info['name'])),
    description: limitDescription(toPlainText(info['description'])),
    instructions: limitDescription(toPlainText(given.instructions), MAX_INSTRUCTIONS_BYTES),
    hasResources: isObject(capabilities['resources']),
    hasPrompts: isObject(capabilities['prompts']),
  }
}

/** As readAbout(), from a file that may be anybody's; undefined when it is nothing of the kind. */
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

const MAX_INSTRUCTIONS_BYTES = 4096
