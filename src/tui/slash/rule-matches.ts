import { pluralize } from '../../core/base/format.ts'
import { parseObject } from '../../core/base/json.ts'
import { request } from '../../core/protocol/dispatch.ts'
import { explainPolicy, type ToolArguments } from './explain-policy.ts'
import type { SlashContext } from './types.ts'

/** The calls of this conversation that a rule matches. */
export interface RuleMatches {
  /** The calls in words, without duplicates, the latest first. */
  matching: readonly string[]
  /** The number of different calls that were compared. */
  total: number
}

/**
 * Finds the latest calls of this conversation that a rule matches, as the policy sees them. An invalid rule matches
 * none.
 */
export async function matchCalls(
  rule: string,
  context: SlashContext,
  signal: AbortSignal,
): Promise<RuleMatches> {
  const calls = await listCalls(context, signal)
  const matching: string[] = []
  for (const [text, call] of calls) {
    const decision = await explainPolicy(call, context, { also: [rule], signal }).catch(() => undefined)
    if (decision?.matched.some(({ pattern, source }) => pattern === rule && source === ADDED))
      matching.push(text)
  }
  return { matching, total: calls.size }
}

/** Describes what a rule matches in a sentence. */
export function describeMatches({ matching, total }: RuleMatches): string {
  if (total === 0) return 'this conversation has no calls yet'
  if (matching.length === 0) return `none of the last ${pluralize(total, 'call')} of this conversation`
  const shown = matching.slice(0, MAX_SHOWN).join(', ')
  const more = matching.length > MAX_SHOWN ? ', …' : ''
  return `${matching.length} of the last ${pluralize(total, 'call')} of this conversation: ${shown}${more}`
}

/** Lists the different calls of the last messages by their text, the latest first. */
async function listCalls(
  { dispatch, state }: SlashContext,
  signal: AbortSignal,
): Promise<Map<string, ToolArguments>> {
  const { session } = state()
  if (session === undefined) return new Map()
  const { total } = await request(dispatch, 'listMessages', { session, offset: 0, limit: 1 }, signal)
  const offset = Math.max(0, total - MAX_MESSAGES)
  const { messages } = await request(
    dispatch,
    'listMessages',
    { session, offset, limit: MAX_MESSAGES },
    signal,
  )
  const calls = messages.flatMap(({ toolCalls }) => toolCalls).toReversed()
  const entries = calls.map((call): [string, ToolArguments] => [
    describeCall(call),
    { tool: call.name, arguments: call.arguments },
  ])
  return new Map(entries.slice(0, MAX_CALLS))
}

function describeCall({ name, arguments: json }: { name: string; arguments: string }): string {
  const { command, path } = parseObject(json) ?? {}
  if (typeof command === 'string') return command
  return typeof path === 'string' ? `${name} ${path}` : name
}

/** The source of rules that come with the request. */
const ADDED = '--allow'
const MAX_MESSAGES = 200
/** Each call is one request. */
const MAX_CALLS = 50
const MAX_SHOWN = 5
