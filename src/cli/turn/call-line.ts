import { parseObject } from '../../core/base/json.ts'
import { takeStart } from '../../core/base/truncate.ts'
import { escapeLine } from '../../core/base/visible.ts'
import type { ToolCallInfo } from '../../core/protocol/crabtalk.generated.ts'

/**
 * Formats a tool call on one line without control sequences: the tool, and the first text among its
 * arguments.
 */
export function formatCallLine({ name, arguments: args }: ToolCallInfo): string {
  const texts = Object.values(parseObject(args) ?? {}).filter((value) => typeof value === 'string')
  const what = toSingleLine(texts[0] ?? '', MAX_CALL_CHARS)
  return what === '' ? toSingleLine(name, MAX_CALL_CHARS) : `${toSingleLine(name, MAX_CALL_CHARS)} ${what}`
}

/** Returns the first non-empty line of a failed tool's output. */
export function formatFailureLine(output: string): string {
  return toSingleLine(output.trimStart().split('\n', 1)[0] ?? '', MAX_FAILURE_CHARS)
}

function toSingleLine(text: string, maxChars: number): string {
  const line = escapeLine(takeStart(text, maxChars + 1))
  return line.length > maxChars ? `${takeStart(line, maxChars)}…` : line
}

/** The maximum lengths of a call and of a failure, in UTF-16 units. */
const MAX_CALL_CHARS = 80
const MAX_FAILURE_CHARS = 200
