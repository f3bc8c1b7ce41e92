import { apportion } from '../base/apportion.ts'
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

/** A part of a request. */
export interface RequestPart {
  kind: ContextPartName
  /** The path of instructions or the name of a server; empty for other parts. */
  name: string
  /** Its share of the total, by an estimate. */
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
  /** The sum of all parts: what the provider counted last, and an estimate of what came since, or of everything. */
  total: number
  /** The size that the provider reported after the last model call. */
  counted: number | undefined
  parts: RequestPart[]
  /** The tokens that a compaction would free, estimated. */
  compactable: number
  /** The number of large tool results, and their tokens. */
  largeResults: number
  largeResultTokens: number
}

/** The tokens, estimated, from which on a tool result is large. */
const LARGE_RESULT_TOKENS = 2_000

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
  const calls = history.messages.flatMap((message) => message.tool_calls ?? [])
  const isMemory = ({ name }: { name: string }) => memoryTools.includes(name)
  const memoryCalls = new Set(calls.filter(isMemory).map(({ id }) => id))
  const isRecalled = ({ tool_call_id: id = '' }: Message) => memoryCalls.has(id)
  const recalled = toPart('memory', history.messages.filter(isRecalled))
  const messages = messageParts(history, isRecalled)
  const called = new Set(calls.map(({ name }) => name))
  const otherTools = toolParts(
    tools.filter((tool) => !isMemory(tool)),
    called,
  )
  const memory = { ...recalled, tokens: recalled.tokens + estimateSpecs(tools.filter(isMemory)) }
  const estimates = [...systemParts(system), ...otherTools, memory, ...messages].filter(
    ({ tokens }) => tokens > 0,
  )
  const total = measureTotal(sumTokens(estimates), history)
  const parts = scaleParts(estimates, total)
  const scale = total / Math.max(1, sumTokens(estimates))
  const compactable = Math.max(0, Math.round(estimateFreed(recalled, messages) * scale))
  const large = history.messages
    .filter((message) => message.role === 'tool' && !isRecalled(message))
    .map(estimateMessageTokens)
    .filter((tokens) => tokens >= LARGE_RESULT_TOKENS)
  const largeResultTokens = Math.round(large.reduce((sum, tokens) => sum + tokens, 0) * scale)
  const counted = history.counted?.tokens
  return { model, window, total, counted, parts, compactable, largeResults: large.length, largeResultTokens }
}

/** Estimates the tokens that a compaction frees: all messages become a summary that quotes the user's own. */
function estimateFreed(recalled: RequestPart, messages: readonly RequestPart[]): number {
  const replaced = recalled.tokens + sumTokens(messages.filter(({ kind }) => kind !== 'summary'))
  const quoted = sumTokens(messages.filter(({ kind }) => kind === 'user'))
  return replaced - Math.min(quoted, MAX_QUOTED_TOKENS) - SUMMARY_TOKENS
}

/** Scales the tokens of the parts so that they add up to a total. */
function scaleParts(parts: readonly RequestPart[], total: number): RequestPart[] {
  const estimates = parts.map(({ tokens }) => tokens)
  const tokens = apportion(estimates, total)
  return parts.map((part, at) => ({ ...part, tokens: tokens[at]! }))
}

/** Returns the size of a request: what the provider counted, and an estimate of what came since. */
function measureTotal(estimated: number, { counted, messages }: SessionHistory): number {
  if (!counted?.tokens) return estimated
  const fresh = messages.slice(counted.messages)
  return fresh.reduce((sum, message) => sum + estimateMessageTokens(message), counted.tokens)
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
