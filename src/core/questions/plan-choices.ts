import { PLAN_ANSWERS } from '../base/plan-answers.ts'
import { sanitize } from '../base/sanitize.ts'
import type { AskQuestion } from '../protocol/crabtalk.generated.ts'
import { NO_DIGIT, type PermissionChoice } from './choices.ts'

/** Lists the choices about a plan; edits can be accepted only where the question offers that. */
export function listPlanChoices({ options }: Pick<AskQuestion, 'options'>): readonly PermissionChoice[] {
  const labels = options.map(({ label }) => label)
  return CHOICES.filter(({ does }) => does === 'reason' || labels.includes(does.answer))
}

/** Converts what the user typed to a request for changes. Text that equals an answer becomes a plain No. */
export function toChangesAnswer(text: string): string {
  const words = sanitize(text).trim()
  const isAnswer = Object.values<string>(PLAN_ANSWERS).includes(words)
  return words === '' || isAnswer ? PLAN_ANSWERS.no : words
}

const { accept, acceptEdits, no } = PLAN_ANSWERS

const CHOICES: readonly PermissionChoice[] = [
  { digit: 1, does: { answer: accept }, text: 'Yes, carry it out' },
  {
    digit: 2,
    does: { answer: acceptEdits },
    lasts: 'session',
    text: 'Yes, and allow edits in this directory',
    short: 'Yes, and allow edits',
  },
  { digit: 3, does: 'reason', text: 'Change it: type what should be different', short: 'Change it' },
  { digit: NO_DIGIT, does: { answer: no }, text: 'No, stay in plan mode' },
]
