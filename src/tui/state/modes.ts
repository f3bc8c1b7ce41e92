import { ApprovalMode } from '../../core/protocol/crabtalk.generated.ts'
import type { ModeName } from '../ports.ts'

/** As the wire names the modes; `ask` leaves it to the agent's file, which may be stricter. */
export const WIRE_MODES: Readonly<Record<ModeName, ApprovalMode>> = {
  ask: ApprovalMode.UNSPECIFIED,
  edits: ApprovalMode.EDITS,
  'read-only': ApprovalMode.READ_ONLY,
  all: ApprovalMode.ALL,
}

/** Shift+Tab goes round. */
export const NEXT_MODE: Readonly<Record<ModeName, ModeName>> = {
  ask: 'edits',
  edits: 'read-only',
  'read-only': 'all',
  all: 'ask',
}
