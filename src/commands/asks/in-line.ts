import type { AskUserEvent } from '../../core/protocol/crabtalk.generated.ts'
import { optionKeys } from '../../tui/cards/option-keys.ts'
import { subjectOf, visibleLine } from '../../tui/cards/subject.ts'

/** What is asked, whole and in one line that no terminal obeys: the questions with their options, or what would be done. */
export function askInLine({ permission, questions }: AskUserEvent): string {
  if (permission) {
    const { verb, what } = subjectOf(permission)
    return `may it ${visibleLine(verb)} in ${visibleLine(permission.cwd)}: ${visibleLine(what)}`
  }
  const lines = questions.map(({ question, options }) => {
    const keys = optionKeys(options)
    const shown = options.map(({ label }, at) => `${keys[at]} ${visibleLine(label)}`).join(', ')
    return visibleLine(question) + (shown === '' ? '' : ` (${shown})`)
  })
  return lines.join(' · ')
}
