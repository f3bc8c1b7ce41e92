import { AskKind, type AskQuestion, type AskUserEvent } from '../../core/protocol/crabtalk.generated.ts'

type AskOrigin = Pick<AskUserEvent, 'kind'>

/** Reports whether any text answers a question. Without options it does; an MCP server and crabtalk take their options only. */
export function takesAnyText({ kind }: AskOrigin, { options }: Pick<AskQuestion, 'options'>): boolean {
  return options.length === 0 || !(kind === AskKind.ELICITATION || kind === AskKind.TRUST)
}

/** The asker of a question, before "asks". */
export function askerName({ kind }: AskOrigin, agent: string): string {
  if (kind === AskKind.ELICITATION) return `an MCP server of ${agent}`
  return kind === AskKind.TRUST ? 'crabtalk' : agent
}

/** The effect of an empty answer, in a few words. */
export function emptyAnswerText({ kind }: AskOrigin): string {
  return kind === AskKind.TRUST ? 'not used this time' : 'no answer'
}
