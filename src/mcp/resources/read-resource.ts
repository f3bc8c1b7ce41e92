import { CrabError } from '../../core/base/errors.ts'
import { isObject } from '../../core/base/json.ts'
import type { McpEntry } from '../../core/config/mcp-entry.ts'
import type { ToolOutput } from '../../core/runtime/hook.ts'
import type { ElicitationHandler } from '../elicitation/types.ts'
import type { Peer } from '../peers/peer.ts'
import { getCallLimits } from '../peers/tool-call.ts'
import { toToolOutput } from '../tools/results.ts'
import { toPrintableLine } from '../tools/server-text.ts'

/** The options of `readResource()`. */
export interface ReadOptions {
  peer: Peer
  entry: McpEntry
  uri: string
  /** The folder for content that is too long or is not text. */
  spillDir: string
  elicit?: ElicitationHandler
  /** Whether files of every kind are attached, as for a tool result. */
  attachesAll?: boolean
}

/**
 * Reads a resource, connecting first if needed: a single text as it is, several parts each under its URI,
 * images and audio as attachments, all within the entry's output limit. Throws `tool` when the server
 * refuses, otherwise as a call does.
 */
export async function readResource(options: ReadOptions, signal: AbortSignal): Promise<ToolOutput> {
  const { peer, entry, uri, spillDir: folder, elicit, attachesAll = false } = options
  const { timeoutMs, limitBytes } = getCallLimits(entry)
  const request = { method: 'resources/read', params: { uri }, timeoutMs, elicit } as const
  const result = await peer.use((connection) => connection.ask(request, signal), signal)
  const spill = { server: entry.name, tool: 'resource', folder }
  return await toToolOutput({ content: toContent(result, uri) }, { limitBytes, spill, attachesAll })
}

function toContent(result: unknown, uri: string): unknown[] {
  const { contents } = isObject(result) ? result : {}
  if (!Array.isArray(contents) || contents.length === 0)
    throw new CrabError('tool', `it has nothing at ${toPrintableLine(uri)}`)
  const [first] = contents
  if (contents.length === 1 && isObject(first) && typeof first['text'] === 'string')
    return [{ type: 'text', text: first['text'] }]
  return contents.map((resource) => ({ type: 'resource', resource }))
}
