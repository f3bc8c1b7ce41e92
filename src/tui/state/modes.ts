import { PERMISSION_ANSWERS } from '../../core/base/permission-answers.ts'
import { PLAN_ANSWERS } from '../../core/base/plan-answers.ts'
import { ApprovalMode } from '../../core/protocol/crabtalk.generated.ts'
import type { ModeName } from '../ports.ts'
import type { ChatState } from './types.ts'

const WIRE_MODES: Readonly<Record<ModeName, ApprovalMode>> = {
  ask: ApprovalMode.ASK,
  edits: ApprovalMode.EDITS,
  plan: ApprovalMode.PLAN,
  'read-only': ApprovalMode.READ_ONLY,
  all: ApprovalMode.ALL,
}

/** Returns the mode of the next turn in its wire form; a mode that the user has not chosen is the agent's. */
export function toWireMode({ chosenMode }: Pick<ChatState, 'chosenMode'>): ApprovalMode {
  return chosenMode === undefined ? ApprovalMode.UNSPECIFIED : WIRE_MODES[chosenMode]
}

/** The mode that Shift+Tab switches to from each mode. Only /yolo switches to `all`. */
const NEXT_MODE: Readonly<Record<ModeName, ModeName>> = {
  ask: 'edits',
  edits: 'plan',
  plan: 'ask',
  'read-only': 'ask',
  all: 'ask',
}

/** Returns the changes of the state when the user presses Shift+Tab. */
export function cycleMode({ mode, turn }: ChatState): Pick<ChatState, 'mode' | 'chosenMode' | 'hint'> {
  const next = NEXT_MODE[mode]
  return {
    ...chooseMode(next),
    hint: turn ? `${MODE_HINTS[next]}, from the next message on` : MODE_HINTS[next],
  }
}

/** Returns the changes of the state when the user chooses a mode. */
export function chooseMode(mode: ModeName): Pick<ChatState, 'mode' | 'chosenMode'> {
  return { mode, chosenMode: mode }
}

/**
 * Changes the mode of the running turn when a plan is accepted, or when edits are allowed; also that of the next turn,
 * unless the user has chosen another one meanwhile.
 */
export function afterAnswer(state: ChatState, answer: unknown): ChatState {
  const change = typeof answer === 'string' ? MODES_AFTER.get(answer) : undefined
  if (change === undefined) return state
  const { turn } = state
  const started = turn && { ...turn, mode: change.to }
  return { ...state, turn: started, ...(state.mode === change.from && chooseMode(change.to)) }
}

const MODES_AFTER: ReadonlyMap<string, { from: ModeName; to: ModeName }> = new Map([
  [PLAN_ANSWERS.accept, { from: 'plan', to: 'ask' }],
  [PLAN_ANSWERS.acceptEdits, { from: 'plan', to: 'edits' }],
  [PERMISSION_ANSWERS.edits, { from: 'ask', to: 'edits' }],
])

/** Describes what a mode means, in a sentence. */
export function describeMode(mode: ModeName): string {
  return MODE_HINTS[mode]
}

const MODE_HINTS: Readonly<Record<ModeName, string>> = {
  ask: 'Changes and commands are asked about',
  edits: 'Edits in this directory are not asked about',
  plan: 'Plan mode: the agent only reads, and presents a plan',
  'read-only': 'The agent only reads',
  all: 'Everything that no rule denies is allowed',
}
