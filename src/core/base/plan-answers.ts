/** The tool with which a turn in plan mode presents its plan; its argument is `plan`, a text in Markdown. */
export const PRESENT_PLAN = 'present_plan'

/** The answers to a plan. Any other text is a request to change it; no text means no. */
export const PLAN_ANSWERS = {
  accept: 'Accept',
  acceptEdits: 'Accept and allow edits',
  no: 'No',
} as const

/** The results of `present_plan` that a model reads; the requested changes follow the last one. */
export const PLAN_RESULTS = {
  accepted: 'The user accepted the plan. Plan mode is over: carry out the plan now.',
  acceptedEdits: 'The user accepted the plan and allows edits. Plan mode is over: carry out the plan now.',
  rejected:
    'The user did not accept the plan. Plan mode continues: say in a sentence that nothing was changed, and stop.',
  changes:
    'The user asks for changes to the plan. Plan mode continues: change the plan and present it again.',
} as const
