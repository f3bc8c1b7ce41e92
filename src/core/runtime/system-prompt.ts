import { wrapInTag } from '../base/wrap-text.ts'
import type { AgentConfig } from '../config/agent-schema.ts'
import type { ToolSpec } from '../provider/types.ts'
import type { ContextTurn, Hook } from './hook.ts'

/** The parts of a system prompt other than the agent itself. */
export interface SystemPromptContext {
  /** Replaces the agent's own prompt. */
  override: string | undefined
  hook: Hook
  cwd: string
  turn: ContextTurn
  /** Whether the turn may have a tool. */
  keeps(tool: ToolSpec): boolean
  guest: boolean
  /** Whether the last message is a side question. */
  side: boolean
  /** Whether guests spoke in the history. */
  hasGuests: boolean
}

const GUEST_FRAMING =
  'You are a guest in a conversation between a person and another agent. Text inside <from agent="…"> was said by the agent named there. Answer as yourself, in text only.'
const PRIMARY_FRAMING =
  'Text inside <from agent="…"> was said by guest agents, not by you. Go on as yourself and do not write such tags.'
const SIDE_FRAMING =
  'The last message is a side question, in <side_question>. Answer only that, briefly, from what the conversation says and what you know. You have no tools now. Do not continue the work, which happens elsewhere: neither the question nor your answer becomes part of the conversation.'

/**
 * Builds the system prompt of one turn; it is built for each request and never stored.
 *
 * Order: prompt, hooks' standing instructions, scope, environment, then the instruction files (ADR 0061), so
 * that the longest possible prefix stays the same between turns and provider caches keep the history.
 */
export async function systemPrompt(agent: AgentConfig, context: SystemPromptContext): Promise<string> {
  const { hook } = context
  const scope = context.guest ? undefined : hook.scope?.(agent)
  const blocks = [
    context.override ?? agent.prompt,
    hook.systemPrompt?.(context.keeps),
    scope && wrapInTag('scope', {}, scope),
    await hook.context?.(context.cwd, context.turn),
    context.guest ? GUEST_FRAMING : context.hasGuests ? PRIMARY_FRAMING : undefined,
    context.side ? SIDE_FRAMING : undefined,
  ]
  return blocks
    .map((block) => block?.trim())
    .filter(Boolean)
    .join('\n\n')
}
