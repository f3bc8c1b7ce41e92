import { type Effort, isEffort } from '../base/effort.ts'
import type { NewLine, SessionLine, SessionMeta } from '../storage/types.ts'

/** The model and reasoning effort chosen for a conversation (ADR 0200); an absent one is the agent's. */
export interface ConversationModel {
  model?: string
  effort?: Effort
}

/** Returns the choice after a line of the session. An effort that this build does not know counts as none. */
export function withModelLine(before: ConversationModel, line: SessionMeta): ConversationModel {
  const { model = before.model ?? '' } = line
  const effort = line.effort ?? before.effort ?? ''
  return { ...(model !== '' && { model }), ...(isEffort(effort) && { effort }) }
}

/** Returns the choice that the lines of a session make. */
export function findConversationModel(lines: readonly SessionLine[]): ConversationModel {
  return lines.reduce<ConversationModel>(
    (before, line) => (line.kind === 'meta' ? withModelLine(before, line) : before),
    {},
  )
}

/** Returns the line that stores a choice. */
export function toModelLine({ model = '', effort = '' }: { model?: string; effort?: string }): NewLine {
  return { kind: 'meta', model, effort }
}
