import { PERMISSION_ANSWERS } from '../../core/base/permission-answers.ts'
import type { AskQuestion } from '../../core/protocol/crabtalk.generated.ts'
import { denialOf, isOffered } from '../../tui/cards/permission-answer.ts'

/** What a person typed under a permission card: an answer, a wish to say why not, or a wish to know more. */
export type Choice = { answer: string } | 'reason' | 'help'

/** Reads a line under a permission card; undefined for what is none of the offered keys. */
export function readChoice(line: string, question: AskQuestion): Choice | undefined {
  const text = line.trim()
  if (text === 'N') return 'reason'
  if (/^(\?|h|help)$/i.test(text)) return 'help'
  const [, reason] = /^no?[\s,:]+(.+)$/i.exec(text) ?? []
  if (reason !== undefined) return { answer: denialOf(reason) }
  const answer = KEYS.get(text.toLowerCase())
  return answer !== undefined && isOffered(answer, question) ? { answer } : undefined
}

/** The keys of a permission card, in a line. */
export function choiceLine(question: AskQuestion): string {
  const keys = [
    'y once',
    ...(isOffered(session, question) ? ['s in this conversation'] : []),
    ...(isOffered(always, question) ? ['a always'] : []),
    'n no',
    'N no, and why',
    '? more',
  ]
  return keys.join(' · ')
}

/** What each key of a permission card does; every line ends. */
export function choiceHelp(question: AskQuestion): string {
  const keys = [
    'y  allows this call',
    ...(isOffered(session, question) ? ['s  allows what the rule says until this conversation ends'] : []),
    ...(isOffered(always, question) ? ["a  writes the rule into the agent's file"] : []),
    'n  refuses it, as Ctrl-D does',
    'N  refuses it and tells the agent why, also in one line: N use pnpm',
    'Ctrl-C ends the run',
  ]
  return keys.map((line) => `  ${line}\n`).join('')
}

const { once, session, always, no } = PERMISSION_ANSWERS

const KEYS: ReadonlyMap<string, string> = new Map([
  ['y', once],
  ['yes', once],
  ['once', once],
  ['s', session],
  ['session', session],
  ['a', always],
  ['always', always],
  ['n', no],
  ['no', no],
])
