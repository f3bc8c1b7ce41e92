import type { Message } from '../base/message.ts'
import type { NewLine } from '../storage/types.ts'
import type { SelectedTools } from './selected-tools.ts'
import type { FinishedCall } from './tool-calls.ts'

/**
 * Returns the lines of a committed step: the assistant's message, then the results in call order, each
 * followed by its event.
 */
export function stepLines(assistant: Message, answers: readonly FinishedCall[]): NewLine[] {
  const lines: NewLine[] = [{ kind: 'entry', ...assistant }]
  for (const { call, result, durationMs, files, remote } of answers.toSorted((a, b) => a.index - b.index)) {
    const { output, isError, attachments, introduces = [] } = result
    const message: Message = { role: 'tool', tool_call_id: call.id, name: call.name, content: output }
    if (isError) message.is_error = true
    if (attachments) message.attachments = attachments
    if (introduces.length > 0) message.introduces = [...introduces]
    lines.push({ kind: 'entry', ...message })
    lines.push({
      kind: 'event',
      event: 'tool_result',
      call_id: call.id,
      duration_ms: durationMs,
      is_error: isError,
      ...(files.length > 0 && { files }),
      ...remote,
    })
  }
  return lines
}

/** Returns the line of an answer without tool calls; none for an empty answer. */
export function toAnswerLines(assistant: Message, isCut: boolean): NewLine[] {
  if (assistant.content === '' && assistant.reasoning === undefined) return []
  return [{ kind: 'entry', ...assistant, ...(isCut && { stop_reason: 'length' }) }]
}

/** Returns the line about the tools selected or used since the last call; none when there were none. */
export function usedLines(selection: SelectedTools): NewLine[] {
  const tools = selection.takeUnstored()
  return tools.length > 0 ? [{ kind: 'event', event: 'tools_used', tools: [...tools] }] : []
}
