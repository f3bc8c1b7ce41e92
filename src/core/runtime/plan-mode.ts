import { PRESENT_PLAN } from '../base/plan-answers.ts'
import type { TurnRequest } from './turn-request.ts'

/**
 * Whether a turn in plan mode presents its plan on a card: a user must be able to answer it. The plan of any
 * other turn is its answer (ADR 0186).
 */
export function presentsPlan({ guest, trust, settings }: TurnRequest): boolean {
  const { onAsk = 'deny', tools } = settings
  const isAsked = onAsk === 'client' || onAsk === 'park'
  return guest === undefined && tools !== 'none' && isAsked && trust !== 'unattended'
}

/** Returns the section of the system prompt about plan mode. */
export function describePlanMode(canPresent: boolean): string {
  const end = canPresent ? `call ${PRESENT_PLAN} with your plan` : 'answer with your plan'
  return `Plan mode: change nothing yet; calls that change something are refused. Read what you need, then ${end} in Markdown.`
}
