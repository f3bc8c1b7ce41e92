import type { Message } from '../base/message.ts'
import type { NewLine } from '../storage/types.ts'
import type { SelectedTools } from './selected-tools.ts'
import type { FinishedCall } from './tool-calls.ts'

/** A committed step: the assistant's message, then results in call order, each with what happened beside it. */
export function stepLines(assistant: Message, answers: readonly FinishedCall[]): NewLine[] {
  const lines: NewLine[] = [{ kind: 'entry', ...assistant }]
  for (const { call, result, durationMs, files, remote } of answers.toSorted((a, b) => a.index - b.index)) {
    const { output, isError, attachments } = result
    const message: Message = { role: 'tool', tool_call_id: call.id, name: call.name, content: output }
    if (isError) message.is_error = true
    if (attachments) message.attachments = attachments
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

/** An answer without tool calls; nothing when nothing was said. */
export function toAnswerLines(assistant: Message, isCut: boolean): NewLine[] {
  if (assistant.content === '' && assistant.reasoning === undefined) return []
  return [{ kind: 'entry', ...assistant, ...(isCut && { stop_reason: 'length' }) }]
}

/** Which tools were selected or used since it was asked for last; nothing when none were. */
export function usedLines(selection: SelectedTools): NewLine[] {
  const tools = selection.takeUnstored()
  return tools.length > 0 ? [{ kind: 'event', event: 'tools_used', tools: [...tools] }] : []
}
