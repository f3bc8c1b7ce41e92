import { ApprovalMode } from '../../core/protocol/crabtalk.generated.ts'
import type { ModeName } from '../ports.ts'

/** The wire value of each mode. `ask` leaves the choice to the agent's file, which may be stricter. */
export const WIRE_MODES: Readonly<Record<ModeName, ApprovalMode>> = {
  ask: ApprovalMode.UNSPECIFIED,
  edits: ApprovalMode.EDITS,
  'read-only': ApprovalMode.READ_ONLY,
  all: ApprovalMode.ALL,
}

/** The mode that Shift+Tab switches to from each mode. */
export const NEXT_MODE: Readonly<Record<ModeName, ModeName>> = {
  ask: 'edits',
  edits: 'read-only',
  'read-only': 'all',
  all: 'ask',
}
