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

/** Returns the changes of the state when a mode that the user chose no longer applies. */
export function resetMode({ usualMode }: ChatState): Pick<ChatState, 'mode' | 'chosenMode'> {
  return { mode: usualMode, chosenMode: undefined }
}

/**
 * Ends what the user allowed for the conversation that the window leaves: its mode, and the directories that were
 * added. The next conversation has the mode of its agent and the directories of the command line.
 */
export function withoutConsent(state: ChatState, agent: string): ChatState {
  const usualMode = agent === state.agent ? state.usualMode : 'ask' // that of another agent is loaded later
  const next = { ...state, usualMode, ...resetMode({ ...state, usualMode }), roots: state.launch.roots }
  const facts = [
    ...(next.mode === state.mode ? [] : [describeMode(next.mode)]),
    ...(next.roots.length < state.roots.length ? ['Directories that you added are no longer included'] : []),
  ]
  return facts.length === 0 ? next : { ...next, hint: facts.join(' · ') }
}

/**
 * Changes the mode of the running turn when a plan is accepted, or when edits are allowed. An answer of this window
 * also changes that of the next turn, unless the user has chosen another one meanwhile.
 */
export function afterAnswer(state: ChatState, answer: unknown, isOwn: boolean): ChatState {
  const change = typeof answer === 'string' ? MODES_AFTER.get(answer) : undefined
  if (change === undefined) return state
  const { turn } = state
  const started = turn && { ...turn, mode: change.to }
  const isNext = isOwn && state.mode === change.from
  return { ...state, turn: started, ...(isNext && chooseMode(change.to)) }
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
  ask: 'Asks before changes and commands',
  edits: 'Edits in this directory run without asking',
  plan: 'Plan mode: the agent only reads, and presents a plan',
  'read-only': 'The agent only reads',
  all: 'Everything that no rule denies is allowed',
}
