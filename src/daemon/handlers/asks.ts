import { ownsPair } from '../../core/policy/client-senders.ts'
import { type Channel, classifyTurn } from '../../core/policy/trust.ts'
import {
  type AskClosedEvent,
  type AskInfo,
  AskKind,
  type AskList,
  type AskUserEvent,
  type ReplyToAsk,
} from '../../core/protocol/crabtalk.generated.ts'
import type { Ask, PendingAsk, PermissionAsk } from '../../core/runtime/asks.ts'
import type { AgentEvent } from '../../core/runtime/events.ts'
import type { RequestContext } from './request-context.ts'

const KIND = {
  question: AskKind.QUESTION,
  permission: AskKind.PERMISSION,
  elicitation: AskKind.ELICITATION,
  trust: AskKind.TRUST,
  plan: AskKind.PLAN,
} as const

/** Converts a question to the form that clients show. Of a permission, which it cannot answer, a TCP client gets only the call. */
export function toAskEvent({ id, kind, questions, permission: full }: Ask, channel: Channel): AskUserEvent {
  const permission = typeof channel === 'string' ? full : full && toCallOnly(full)
  return {
    askId: id,
    kind: KIND[kind],
    questions: questions.map((question) => ({ ...question, options: [...question.options] })),
    permission: permission && {
      ...permission,
      rules: [...permission.rules],
      commands: [...permission.commands],
      warnings: [...permission.warnings],
    },
  }
}

/** Removes the details about this machine and its rules. */
function toCallOnly({ callId, tool, server, arguments: args }: PermissionAsk): PermissionAsk {
  const hidden = { cwd: '', diff: '', reason: '', rules: [], commands: [], warnings: [], editable: false }
  return { callId, tool, server, arguments: args, action: tool, ...hidden }
}

/** Converts the end of a question to its wire form. */
export function toAskClosedEvent({
  askId,
  by,
  answers,
}: Extract<AgentEvent, { type: 'ask-closed' }>): AskClosedEvent {
  return { askId, by, content: answers ? JSON.stringify(answers) : '' }
}

/** Handles `reply_to_ask`: answers a question of any turn in this process. */
export function replyToAsk(
  { services, channel }: RequestContext<'asks'>,
  { agent, sender, askId, content, arguments: args }: ReplyToAsk,
): void {
  const trust = classifyTurn(channel, sender)
  services.asks.reply({ agent, sender, trust, ...(askId !== undefined && { id: askId }) }, content, args)
}

/** Handles `list_asks`: returns the pending questions that belong to the client. */
export function handleListAsks(
  { services, channel }: RequestContext<'asks'>,
  { agent }: { agent: string },
): AskList {
  return {
    asks: services.asks
      .list(agent)
      .filter((ask) => ownsPair(channel, ask))
      .map((ask) => toAskInfo(ask, channel)),
  }
}

/** Returns a row of `list_asks`. */
export function toAskInfo(
  { ask, openedAt, hasTimeLimit: _, ...turn }: PendingAsk,
  channel: Channel,
): AskInfo {
  return { ...turn, openedAt: new Date(openedAt).toISOString(), ask: toAskEvent(ask, channel) }
}
