import { headOf } from '../../core/base/cut.ts'
import { parseObject } from '../../core/base/json.ts'
import { toVisible } from '../../core/base/visible.ts'
import type { ToolCallInfo } from '../../core/protocol/crabtalk.generated.ts'

/** A tool call in one line that no terminal obeys: the tool, and the first text among its arguments. */
export function calledInLine({ name, arguments: args }: ToolCallInfo): string {
  const texts = Object.values(parseObject(args) ?? {}).filter((value) => typeof value === 'string')
  const what = inLine(texts[0] ?? '', MOST_CALLED)
  return what === '' ? inLine(name, MOST_CALLED) : `${inLine(name, MOST_CALLED)} ${what}`
}

/** The first line of what a failed tool says that says something. */
export function failureInLine(output: string): string {
  return inLine(output.trimStart().split('\n', 1)[0] ?? '', MOST_FAILURE)
}

function inLine(text: string, most: number): string {
  const line = toVisible(headOf(text, most + 1)).replaceAll('\n', '\\n')
  return line.length > most ? `${headOf(line, most)}…` : line
}

/** UTF-16 units. */
const MOST_CALLED = 80
const MOST_FAILURE = 200
