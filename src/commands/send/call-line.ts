import { parseObject } from '../../core/base/json.ts'
import { takeStart } from '../../core/base/truncate.ts'
import { toVisible } from '../../core/base/visible.ts'
import type { ToolCallInfo } from '../../core/protocol/crabtalk.generated.ts'

/** A tool call in one line that no terminal obeys: the tool, and the first text among its arguments. */
export function formatCallLine({ name, arguments: args }: ToolCallInfo): string {
  const texts = Object.values(parseObject(args) ?? {}).filter((value) => typeof value === 'string')
  const what = toSingleLine(texts[0] ?? '', MOST_CALLED)
  return what === '' ? toSingleLine(name, MOST_CALLED) : `${toSingleLine(name, MOST_CALLED)} ${what}`
}

/** The first line of what a failed tool says that says something. */
export function formatFailureLine(output: string): string {
  return toSingleLine(output.trimStart().split('\n', 1)[0] ?? '', MOST_FAILURE)
}

function toSingleLine(text: string, most: number): string {
  const line = toVisible(takeStart(text, most + 1)).replaceAll('\n', '\\n')
  return line.length > most ? `${takeStart(line, most)}…` : line
}

/** UTF-16 units. */
const MOST_CALLED = 80
const MOST_FAILURE = 200
