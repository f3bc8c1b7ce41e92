import { escapeLine } from '../../core/base/visible.ts'
import type { AskUserEvent } from '../../core/protocol/crabtalk.generated.ts'
import { optionKeys } from '../../core/questions/option-keys.ts'
import { toSubject } from '../../core/questions/subject.ts'

/**
 * Formats a question in full on one line, with control characters escaped: its questions with their options,
 * or the action that needs permission.
 */
export function formatAskLine({ kind, permission, questions }: AskUserEvent): string {
  if (permission) {
    const { verb, what } = toSubject(permission)
    return `may it ${escapeLine(verb)} in ${escapeLine(permission.cwd)}: ${escapeLine(what)}`
  }
  const lines = questions.map(({ question, options }) => {
    const keys = optionKeys(options, kind)
    const shown = options.map(({ label }, at) => `${keys[at]} ${escapeLine(label)}`).join(', ')
    return escapeLine(question) + (shown === '' ? '' : ` (${shown})`)
  })
  return lines.join(' · ')
}
