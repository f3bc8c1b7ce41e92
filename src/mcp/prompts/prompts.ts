import { CrabError } from '../../core/base/errors.ts'
import { isObject } from '../../core/base/json.ts'
import type { JsonObject } from '../../core/base/message.ts'
import type { McpEntry } from '../../core/config/mcp-entry.ts'
import type { Connection } from '../connection/connection.ts'
import { readPages } from '../connection/pages.ts'
import type { ElicitationHandler } from '../elicitation/types.ts'
import type { Peer } from '../peers/peer.ts'
import { getCallLimits } from '../peers/tool-call.ts'
import { toToolOutput } from '../tools/results.ts'
import { limitServerText, toPrintableLine } from '../tools/server-text.ts'
import type { PromptArgumentView, PromptMessage, PromptView } from '../types.ts'

/** The options of `getPrompt()`. */
export interface GetPromptOptions {
  peer: Peer
  entry: McpEntry
  prompt: string
  args: Readonly<Record<string, string>>
  /** The folder for content that is too long or is not text. */
  spillDir: string
  elicit?: ElicitationHandler
}

/**
 * Returns the messages of a prompt, connecting first if needed; each is limited to the entry's output limit.
 * Throws `tool` when the server refuses or returns none, otherwise as a call does.
 */
export async function getPrompt(options: GetPromptOptions, signal: AbortSignal): Promise<PromptMessage[]> {
  const { peer, entry, prompt, args, spillDir: folder, elicit } = options
  const { timeoutMs, limitBytes } = getCallLimits(entry)
  const params = { name: prompt, arguments: { ...args } }
  const request = { method: 'prompts/get', params, timeoutMs, elicit } as const
  const result = await peer.use((connection) => connection.ask(request, signal), signal)
  const { messages } = isObject(result) ? result : {}
  const messageList = Array.isArray(messages) ? messages.filter(isObject).slice(0, MAX_MESSAGES) : []
  if (messageList.length === 0) throw new CrabError('tool', `its prompt ${toPrintableLine(prompt)} is empty`)
  const spill = { server: entry.name, tool: 'prompt', folder }
  return await Promise.all(
    messageList.map(async ({ role, content }): Promise<PromptMessage> => {
      const parts = Array.isArray(content) ? content : [content]
      const { output, attachments = [] } = await toToolOutput({ content: parts }, { limitBytes, spill })
      return { role: role === 'assistant' ? role : 'user', content: output, attachments }
    }),
  )
}

const MAX_MESSAGES = 50

/** Lists the prompts of a server in its order; empty for a server without any. Throws as Connection does. */
export async function listPrompts(connection: Connection, signal: AbortSignal): Promise<PromptView[]> {
  const { items } = await connection.readPages('prompts/list', (page) => readPages(page, 'prompts'), signal)
  return items.flatMap((item) => {
    const { name, title } = item
    if (!isName(name)) return []
    const args = Array.isArray(item['arguments']) ? item['arguments'] : []
    const description = readDescription(item) || (typeof title === 'string' ? toPrintableLine(title) : '')
    return [
      { name, description, arguments: args.filter(isObject).slice(0, MAX_ARGUMENTS).flatMap(toArgument) },
    ]
  })
}

function toArgument(item: JsonObject): PromptArgumentView[] {
  const { name, required } = item
  return isName(name) ? [{ name, description: readDescription(item), isRequired: required === true }] : []
}

/** Whether a value is a name that can be typed as one word. */
function isName(name: unknown): name is string {
  return (
    typeof name === 'string' &&
    name !== '' &&
    name.length <= MAX_NAME &&
    !/[\s=\p{Cc}\p{Cf}\p{Cs}]/u.test(name)
  )
}

function readDescription({ description }: JsonObject): string {
  return typeof description === 'string' ? limitServerText(description) : ''
}

const MAX_NAME = 128
const MAX_ARGUMENTS = 30
