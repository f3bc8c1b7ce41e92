import { PERMISSION_ANSWERS } from '../base/permission-answers.ts'
import { escapeLine } from '../base/visible.ts'
import type { AskQuestion } from '../protocol/crabtalk.generated.ts'
import { isOffered } from './permission-answer.ts'

/** One choice on a permission card. */
export interface PermissionChoice {
  /** The digit that selects it, the same on every card whatever else is offered. */
  digit: number
  /** The answer it gives, or `reason` when it asks for the reason of a denial. */
  does: { answer: string } | 'reason'
  /** The lifetime of the rule it creates, if any. */
  lasts?: 'session' | 'always'
  /** The text of a choice that creates no rule. */
  text?: string
  /** The same for a narrow card. */
  short?: string
}

/** Lists the choices of a permission. A lasting answer is included only when the question offers it. */
export function listPermissionChoices(question: Pick<AskQuestion, 'options'>): readonly PermissionChoice[] {
  return CHOICES.filter(({ does, lasts }) => !lasts || does === 'reason' || isOffered(does.answer, question))
}

/** Returns the choice of a digit; undefined when it is not offered. */
export function findPermissionChoice(
  digit: number,
  question: Pick<AskQuestion, 'options'>,
): PermissionChoice | undefined {
  return listPermissionChoices(question).find((choice) => choice.digit === digit)
}

/**
 * Formats a choice, with the rules it would create and their file. Use `medium` or `short` when those are
 * shown elsewhere.
 */
export function formatChoice(
  { digit, lasts, text, short }: PermissionChoice,
  { rules, agent }: { rules: readonly string[]; agent: string },
  form: 'whole' | 'medium' | 'short',
): string {
  if (text !== undefined) return form === 'whole' ? text : (short ?? text)
  if (!lasts) return digit === 5 && form === 'short' ? 'No, and why' : WORDS.get(digit)!
  const file = escapeLine(`agents/${agent}.toml`)
  if (form === 'whole') {
    const rule = rules.map(escapeLine).join(' and ')
    return lasts === 'session'
      ? `Yes, and allow ${rule} in this conversation`
      : `Yes, and always allow ${rule} (in ${file})`
  }
  if (form === 'medium') {
    const what = rules.length === 1 ? 'the rule above' : `the ${rules.length} rules above`
    return lasts === 'session'
      ? `Yes, and allow ${what} in this conversation`
      : `Yes, and always allow ${what} (in ${file})`
  }
  return lasts === 'session' ? 'Yes, for this conversation' : 'Yes, always'
}

/** Describes the effect of a choice in a sentence. */
export function describeChoice({ digit, lasts, does }: PermissionChoice, agent: string): string {
  if (does !== 'reason' && does.answer === edits)
    return 'allows this call, and changes of files in the working directory until you change the mode'
  if (lasts === 'session') return 'allows this call, and what the rule matches until this conversation ends'
  if (lasts === 'always') return `allows this call, and writes the rule into agents/${agent}.toml`
  return HELP.get(digit)!
}

const { once, session, edits, always, no } = PERMISSION_ANSWERS

/** The digit of No, which is selected first. */
export const NO_DIGIT = 4

const CHOICES: readonly PermissionChoice[] = [
  { digit: 1, does: { answer: once } },
  { digit: 2, does: { answer: session }, lasts: 'session' },
  {
    digit: 2,
    does: { answer: edits },
    lasts: 'session',
    text: 'Yes, and allow edits in this directory',
    short: 'Yes, and allow edits',
  },
  { digit: 3, does: { answer: always }, lasts: 'always' },
  { digit: NO_DIGIT, does: { answer: no } },
  { digit: 5, does: 'reason' },
]

const WORDS: ReadonlyMap<number, string> = new Map([
  [1, 'Yes'],
  [NO_DIGIT, 'No'],
  [5, 'No, and tell the agent why'],
])

const HELP: ReadonlyMap<number, string> = new Map([
  [1, 'allows this call'],
  [NO_DIGIT, 'denies this call; the agent continues without it'],
  [5, 'denies this call; the agent reads what you type next'],
])
