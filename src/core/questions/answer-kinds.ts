import { AskKind, type AskQuestion, type AskUserEvent } from '../protocol/crabtalk.generated.ts'

type AskOrigin = Pick<AskUserEvent, 'kind'>

/**
 * Whether any text answers a question. That holds without options; questions of an MCP server and of crabtalk
 * accept only their options.
 */
export function takesAnyText({ kind }: AskOrigin, { options }: Pick<AskQuestion, 'options'>): boolean {
  return options.length === 0 || !(kind === AskKind.ELICITATION || kind === AskKind.TRUST)
}

/** Whether a question is answered on a card with fixed choices, like a permission. */
export function hasFixedChoices({ kind, permission, questions }: AskUserEvent): boolean {
  return questions.length > 0 && (permission !== undefined || kind === AskKind.PLAN)
}

/** Returns the name of the asker, as the subject of "asks". */
export function askerName({ kind }: AskOrigin, agent: string): string {
  if (kind === AskKind.ELICITATION) return `an MCP server of ${agent}`
  return kind === AskKind.TRUST ? 'crabtalk' : agent
}

/** Describes the effect of an empty answer in a few words. */
export function emptyAnswerText({ kind }: AskOrigin): string {
  return kind === AskKind.TRUST ? 'not used this time' : 'no answer'
}
