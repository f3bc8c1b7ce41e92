import { estimateMessageTokens, estimateTokens } from '../base/estimate-tokens.ts'
import type { Message } from '../base/message.ts'
import type { ToolSpec } from '../provider/types.ts'
import type { SessionHistory } from './conversation.ts'
import { toRequestMessages } from './history.ts'

/** The kind of a part of a request. */
export type ContextPartName =
  | 'prompt'
  | 'instructions'
  | 'tools'
  | 'memory'
  | 'summary'
  | 'user'
  | 'assistant'
  | 'results'

/** A part of a request. Tokens are estimated. */
export interface RequestPart {
  kind: ContextPartName
  /** The path of instructions or the name of a server; empty for other parts. */
  name: string
  tokens: number
  /** The number of tools or messages; of memory, the number of results. */
  count: number
  /** Whether the conversation has not called any of these tools. */
  unused: boolean
}

/** The next request of a conversation, by its parts. */
export interface RequestBreakdown {
  model: string
  /** The context window of the model in tokens. */
  window: number | undefined
  total: number
  /** The size that the provider reported after the last model call. */
  counted: number | undefined
  parts: RequestPart[]
  /** The tokens that a compaction would free, estimated. */
  compactable: number
}

/** Breaks a request down into its parts, in their order; parts without content are left out. */
export function breakDownRequest({
  model,
  window,
  system,
  tools,
  memoryTools,
  history,
}: {
  model: string
  window: number | undefined
  system: string
  tools: readonly ToolSpec[]
  /** The names of the tools that read and write the agent's memory. */
  memoryTools: readonly string[]
  history: SessionHistory
}): RequestBreakdown {
  const called = new Set(
    history.messages.flatMap(({ tool_calls: calls = [] }) => calls.map(({ name }) => name)),
  )
  const isMemory = ({ name }: { name: string }) => memoryTools.includes(name)
  const memoryCalls = new Set(
    history.messages.flatMap(({ tool_calls: calls = [] }) => calls.filter(isMemory).map(({ id }) => id)),
  )
  const isRecalled = ({ tool_call_id: id = '' }: Message) => memoryCalls.has(id)
  const recalled = toPart('memory', history.messages.filter(isRecalled))
  const messages = messageParts(history, isRecalled)
  const otherTools = tools.filter((tool) => !isMemory(tool))
  const memory = { ...recalled, tokens: recalled.tokens + estimateSpecs(tools.filter(isMemory)) }
  const parts = [...systemParts(system), ...toolParts(otherTools, called), memory, ...messages].filter(
    ({ tokens }) => tokens > 0,
  )
  const total = sumTokens(parts)
  const replaced = recalled.tokens + sumTokens(messages.filter(({ kind }) => kind !== 'summary'))
  const quoted = sumTokens(messages.filter(({ kind }) => kind === 'user'))
  const compactable = Math.max(0, replaced - Math.min(quoted, MAX_QUOTED_TOKENS) - SUMMARY_TOKENS)
  return { model, window, total, counted: history.counted?.tokens, parts, compactable }
}

/** The usual size of a summary, and the most that the user's own words take in it. */
const SUMMARY_TOKENS = 1_200
const MAX_QUOTED_TOKENS = 5_000

const PART = { name: '', count: 0, unused: false }

/** Separates the instruction files, which are tagged with their paths, from the rest of a system prompt. */
function systemParts(system: string): RequestPart[] {
  const files: RequestPart[] = []
  const rest = system.replaceAll(INSTRUCTIONS, (block: string, name: string) => {
    files.push({
      ...PART,
      kind: 'instructions',
      name: unescapeAttribute(name),
      tokens: estimateTokens(block),
    })
    return ''
  })
  return [{ ...PART, kind: 'prompt', tokens: estimateTokens(rest) }, ...files]
}

const INSTRUCTIONS = /<instructions from="([^"]*)">[\s\S]*?<\/instructions>\n?/g

function unescapeAttribute(text: string): string {
  return text.replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)))
}

/** Groups tools by their MCP server; the built-in ones come first. */
function toolParts(tools: readonly ToolSpec[], called: ReadonlySet<string>): RequestPart[] {
  const servers = [...new Set(tools.map(({ server = '' }) => server))].sort()
  return servers.map((name) => {
    const own = tools.filter(({ server = '' }) => server === name)
    const unused = name !== '' && !own.some((tool) => called.has(tool.name))
    return { kind: 'tools', name, tokens: estimateSpecs(own), count: own.length, unused }
  })
}

function estimateSpecs(tools: readonly ToolSpec[]): number {
  if (tools.length === 0) return 0
  return estimateTokens(
    JSON.stringify(tools.map(({ name, description, parameters }) => [name, description, parameters])),
  )
}

function messageParts(
  { messages, archive }: SessionHistory,
  isRecalled: (message: Message) => boolean,
): RequestPart[] {
  const summary = archive ? messages.slice(0, 1) : []
  const rest = toRequestMessages(messages.slice(summary.length))
  const pick = (role: Message['role']) => rest.filter((message) => message.role === role)
  return [
    toPart('summary', summary),
    toPart('user', pick('user')),
    toPart('assistant', pick('assistant')),
    toPart(
      'results',
      pick('tool').filter((message) => !isRecalled(message)),
    ),
  ]
}

function toPart(kind: ContextPartName, messages: readonly Message[]): RequestPart {
  const tokens = messages.reduce((sum, message) => sum + estimateMessageTokens(message), 0)
  return { ...PART, kind, tokens, count: messages.length }
}

function sumTokens(parts: readonly RequestPart[]): number {
  return parts.reduce((sum, { tokens }) => sum + tokens, 0)
}
