import type { CallToolResult } from '@modelcontextprotocol/server'
import { type CrabError, toCrabError } from '../../core/base/errors.ts'
import type { JsonObject } from '../../core/base/message.ts'
import { fromStreamEnd } from '../../core/protocol/failure.ts'
import type { TurnFold } from '../../core/protocol/turn-fold.ts'
import { toUsageJson } from '../../core/protocol/usage-json.ts'

/** The conversation of a turn, by the host's names. */
interface ServedAddress {
  agent: string
  conversation: string
}

/** Builds the result of the host's call from a finished turn; `failure` is the reason it failed, if it did. */
export function toCallResult(turn: TurnFold, at: ServedAddress, failure: unknown): CallToolResult {
  const { summary, end } = turn
  const error = failure === undefined ? end && fromStreamEnd(end) : toCrabError(failure)
  const words = [summary.text, error && toErrorText(error), toDeniedWords(turn, at)].filter((text) => text)
  return {
    content: (words.length > 0 ? words : ['[no answer]']).map((text) => ({
      type: 'text',
      text: text!.toWellFormed(),
    })),
    structuredContent: toStructured(turn, at, error),
    ...(error && { isError: true }),
  }
}

/** Builds the structured content, with the whole answer for hosts that give their model nothing else. */
function toStructured(
  turn: TurnFold,
  { agent, conversation }: ServedAddress,
  error: CrabError | undefined,
): JsonObject {
  const { summary, session } = turn
  const { usage, turns = 0, costUsd, model = turn.model, detail } = turn.end ?? {}
  return {
    agent,
    conversation,
    session,
    answer: summary.text.toWellFormed(),
    model,
    turns,
    ...(usage && { usage: toUsageJson(usage) }),
    ...(costUsd !== undefined && { cost_usd: costUsd }),
    ...(detail?.stopReason && { stop_reason: detail.stopReason }),
    ...(summary.denied.length > 0 && {
      denied: summary.denied.map(({ name: tool, denial: { action, reason, rules } }) => {
        return { tool, action, reason, rules }
      }),
    }),
    ...(error && { error: { kind: error.kind, message: error.message } }),
  }
}

function toDeniedWords({ summary }: TurnFold, { agent }: ServedAddress): string {
  const lines = summary.denied.map(({ denial: { action, reason, rules } }) => {
    const allow = rules.length > 0 ? `; the rule ${rules.join(' and ')} would allow it` : ''
    return `- ${action}: ${reason}${allow}`
  })
  const unique = [...new Set(lines)]
  if (unique.length === 0) return ''
  return `[Not permitted, and not done:\n${unique.join('\n')}\nRules are written into agents/${agent}.toml, under [permissions].]`
}

/** Builds the result of a call that failed without a turn. */
export function toFailedCall(reason: unknown): CallToolResult {
  return { content: [{ type: 'text', text: toErrorText(toCrabError(reason)) }], isError: true }
}

/** Formats an error for the host's model. */
function toErrorText({ message, hint }: CrabError): string {
  return hint ? `${message} (${hint})` : message
}
