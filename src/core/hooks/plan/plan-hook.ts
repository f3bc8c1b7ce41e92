import { PLAN_ANSWERS, PLAN_RESULTS, PRESENT_PLAN } from '../../base/plan-answers.ts'
import { CLASS_RIGHTS } from '../../policy/class-rights.ts'
import type { ToolSpec } from '../../provider/types.ts'
import type { Hook, ToolDispatch, ToolOutput } from '../../runtime/hook.ts'

/**
 * Provides the tool `present_plan` to turns in plan mode: the user accepts the plan, asks for changes, or says
 * no. After an accepted plan the turn continues in the mode that the user chose (ADR 0186).
 */
export function planHook(): Hook {
  return {
    schema: (_, { presentsPlan = false }) => (presentsPlan ? [SPEC] : []),
    dispatch: (name, call) => (name === PRESENT_PLAN ? presentPlan(call) : undefined),
  }
}

/** Terse, because it is sent with every request in plan mode. */
const SPEC: ToolSpec = {
  name: PRESENT_PLAN,
  description: 'Show the user your plan, in Markdown, and wait until they accept it',
  parameters: { type: 'object', properties: { plan: { type: 'string' } }, required: ['plan'] },
  readOnly: true,
  isGuide: true,
}

async function presentPlan(call: ToolDispatch): Promise<ToolOutput> {
  const { args, trust, ask, leavePlanMode, offerAgain } = call
  const plan = typeof args['plan'] === 'string' ? args['plan'].trim() : ''
  if (plan === '') return fail('Cannot present the plan: "plan" must be its text, in Markdown')
  if (plan.length > MAX_PLAN) return fail(`Cannot present the plan: it is longer than ${MAX_PLAN} characters`)
  const options = listOptions(CLASS_RIGHTS[trust].canWiden)
  const answers = await ask([{ question: plan, header: 'Plan', options, multiSelect: false }], 'plan')
  const answer = answers[plan] ?? ''
  const mode = options.some(({ label }) => label === answer) ? MODES.get(answer) : undefined
  if (mode !== undefined) {
    leavePlanMode(mode)
    offerAgain()
    return { output: ACCEPTED[mode], isError: false }
  }
  if (answer === '' || answer === PLAN_ANSWERS.no) return fail(PLAN_RESULTS.rejected)
  return { output: `${PLAN_RESULTS.changes}\n\n${answer}`, isError: false }
}

/** The refusal is first: a client that selects its first row must not accept a plan by a stray Enter. */
function listOptions(canWiden: boolean): { label: string; description: string }[] {
  const { accept, acceptEdits, no } = PLAN_ANSWERS
  return [
    { label: no, description: 'the agent stays in plan mode' },
    { label: accept, description: 'the agent carries it out, and asks as usual' },
    ...(canWiden
      ? [
          {
            label: acceptEdits,
            description: 'the same, and edits in the working directory run without asking',
          },
        ]
      : []),
  ]
}

const MODES: ReadonlyMap<string, 'ask' | 'edits'> = new Map([
  [PLAN_ANSWERS.accept, 'ask'],
  [PLAN_ANSWERS.acceptEdits, 'edits'],
])

const ACCEPTED = { ask: PLAN_RESULTS.accepted, edits: PLAN_RESULTS.acceptedEdits } as const

/** The maximum length of a plan in UTF-16 units. */
const MAX_PLAN = 50_000

function fail(output: string): ToolOutput {
  return { output, isError: true }
}
