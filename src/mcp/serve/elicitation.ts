import { isObject } from '../../core/base/json.ts'
import type { JsonObject } from '../../core/base/message.ts'
import { PERMISSION_ANSWERS } from '../../core/base/permission-answers.ts'
import { sanitize } from '../../core/base/sanitize.ts'
import { takeStart } from '../../core/base/truncate.ts'
import { AskKind, type AskQuestion, type AskUserEvent } from '../../core/protocol/crabtalk.generated.ts'

/** A form of MCP, valid in every revision since 2025-06-18. */
export interface ElicitationSchema {
  message: string
  requestedSchema: {
    type: 'object'
    properties: Record<string, SchemaField>
    required: string[]
  }
}

/** A field of a form: a text, or one of several values. */
export interface SchemaField {
  type: 'string'
  title: string
  description: string
  enum?: string[]
}

/**
 * Converts a question of a turn to a form for the host's user. A permission can be granted once or for this
 * conversation, not for always: the host's answer must not write a rule into an agent file.
 */
export function toForm(agent: string, ask: AskUserEvent): ElicitationSchema {
  const fields = ask.questions.map((question, i) => [`answer_${i + 1}`, toField(question, ask)] as const)
  return {
    message: takeStart(sanitize(toMessage(agent, ask)).toWellFormed(), MAX_MESSAGE),
    requestedSchema: {
      type: 'object',
      properties: Object.fromEntries(fields),
      required: fields.map(([name]) => name),
    },
  }
}

/**
 * Converts the host's response to the answers, from each question to a label or text. A form that was
 * declined or not answered denies a permission, declines a question of an MCP server, and leaves other
 * answers empty, like a user who dismisses a question.
 */
export function toAskAnswers({ kind, questions }: AskUserEvent, response: unknown): Record<string, string> {
  const { action, content } = isObject(response) ? response : ({} as JsonObject)
  const values = action === 'accept' && isObject(content) ? content : {}
  const entries = questions.map(({ question, options }, i) => {
    const value = values[`answer_${i + 1}`]
    const isAnswered = typeof value === 'string' && value !== ''
    if (kind === AskKind.PERMISSION && isAnswered) return [question, atMostSession(value)]
    if (kind === AskKind.PERMISSION) return [question, action === 'accept' ? NO_FIELD : PERMISSION_ANSWERS.no]
    const refusal = action === 'decline' ? options.find(({ label }) => label === DECLINE)?.label : undefined
    return [question, isAnswered ? value : (refusal ?? '')]
  })
  return Object.fromEntries(entries)
}

function atMostSession(answer: string): string {
  return answer === ALWAYS ? PERMISSION_ANSWERS.once : answer
}

function toField(
  { question, header, options, multiSelect }: AskQuestion,
  { kind }: AskUserEvent,
): SchemaField {
  const labels = options.map(({ label }) => label)
  const offered = kind === AskKind.PERMISSION ? labels.filter((label) => label !== ALWAYS) : labels
  const several =
    multiSelect && labels.length > 0 ? ` (one or more of ${labels.join(', ')}, joined by ", ")` : ''
  return {
    type: 'string',
    title: clean(header || 'Answer'),
    description: clean(question) + several,
    ...(offered.length > 0 && !multiSelect && { enum: offered }),
  }
}

function toMessage(agent: string, { permission, questions }: AskUserEvent): string {
  if (permission) {
    const { action, cwd, reason, diff, rules, warnings } = permission
    const isLasting = questions.some(({ options }) => options.some(({ label }) => label === SESSION))
    const lasting = isLasting ? `"${SESSION}" allows ${rules.join(' and ')}.` : undefined
    const lines = [
      `${agent} asks for permission: ${action}`,
      `In ${cwd}, because ${reason}.`,
      lasting,
      ...warnings,
      diff,
    ]
    return lines.filter((line) => line).join('\n')
  }
  const lines = questions.map(({ question, options }) =>
    [question, ...options.map(({ label, description }) => `- ${label}: ${description}`)].join('\n'),
  )
  return `${agent} asks: ${lines.join('\n\n')}`
}

function clean(text: string): string {
  return takeStart(sanitize(text).toWellFormed(), MAX_FIELD)
}

const SESSION: string = PERMISSION_ANSWERS.session
const ALWAYS: string = PERMISSION_ANSWERS.always
/** The refusal for a form that was accepted without its field: the user did not say no, but did not allow it. */
const NO_FIELD = 'the host accepted the form without an answer'
/** The label that questions of MCP servers use. */
const DECLINE = 'Decline'
const MAX_MESSAGE = 8_000
const MAX_FIELD = 1_000
