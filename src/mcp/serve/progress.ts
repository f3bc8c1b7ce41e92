import { parseObject } from '../../core/base/json.ts'
import { sanitize } from '../../core/base/sanitize.ts'
import { takeStart } from '../../core/base/truncate.ts'
import type { StreamEvent, ToolCallInfo } from '../../core/protocol/crabtalk.generated.ts'

type TurnEvent = NonNullable<StreamEvent['event']>

/**
 * Describes an event of a turn in one line for the host's progress; undefined for events that are not
 * reported.
 */
export function describeProgress(event: TurnEvent): string | undefined {
  switch (event.$case) {
    case 'start':
      return `${event.value.agent} works`
    case 'thinkingStart':
      return 'thinks'
    case 'textStart':
      return 'answers'
    case 'toolStart':
      return inLine(event.value.calls.map(describeCall).join(', '))
    case 'toolProgress':
      return inLine(event.value.message)
    case 'askUser':
      return inLine(`asks: ${event.value.questions[0]?.question ?? ''}`)
    case 'retry':
      return inLine(`tries again: ${event.value.message}`)
    case 'notice':
      return inLine(event.value.message)
    default:
      return undefined
  }
}

/** Formats a call with the first string among its arguments: `bash(git status)`. */
function describeCall({ name, arguments: text }: ToolCallInfo): string {
  const first = Object.values(parseObject(text) ?? {}).find((value) => typeof value === 'string')
  return first === undefined ? name : `${name}(${takeStart(first.split('\n', 1)[0]!, MAX_ARGUMENT)})`
}

function inLine(text: string): string {
  return takeStart(sanitize(text).replaceAll(/\s+/g, ' ').toWellFormed(), MAX_LINE)
}

const MAX_ARGUMENT = 80
const MAX_LINE = 300
