import { pluralize } from '../../../core/base/format.ts'
import { DeniedBy } from '../../../core/protocol/crabtalk.generated.ts'
import type { ToolRun } from '../blocks.ts'
import { formatDuration } from '../numbers.ts'
import { countChanges } from './diff.ts'
import type { DiffLine } from './diff-lines.ts'

/** Describes the result of a call for the end of its line: `exit 1`, `34 lines`, `+3 −1`, and its duration. */
export function describeOutcome(tool: ToolRun, change: readonly DiffLine[]): string[] {
  if (tool.state === 'running') return []
  if (tool.state === 'denied') return [describeDenial(tool)]
  if (tool.state === 'skipped') return ['not run']
  const parts = [...describeExit(tool), ...describeAmount(tool, change)]
  return tool.durationMs >= MIN_SHOWN_MS ? [...parts, formatDuration(tool.durationMs)] : parts
}

/** The minimum duration that is shown. */
const MIN_SHOWN_MS = 100

function describeDenial({ denial }: ToolRun): string {
  return denial?.by === DeniedBy.PERSON ? 'you said no' : 'not permitted'
}

function describeExit({ name, server, state, output }: ToolRun): string[] {
  if (name !== 'bash' || server !== '') return state === 'failed' ? ['failed'] : []
  const end = /\[(?:exit code (\d+)|(?:killed|ended) by (\w+))\][^\n]*(?:\n\[[^\n]*)*$/.exec(
    output.slice(-1000),
  )
  if (end) return [end[1] === undefined ? String(end[2]) : `exit ${end[1]}`]
  return state === 'failed' ? ['failed'] : []
}

function describeAmount({ name, server, state, output }: ToolRun, change: readonly DiffLine[]): string[] {
  if (change.length > 0) return [countChanges(change)]
  if (state === 'failed' || server !== '' || !COUNTED.has(name)) return []
  if (output === '[no output]' || output === 'No matches.')
    return [output.replace(/[[\].]/g, '').toLowerCase()]
  return [pluralize(countLines(output), 'line')]
}

const COUNTED: ReadonlySet<string> = new Set(['bash', 'read', 'grep', 'glob'])

function countLines(text: string): number {
  let lines = text === '' || text.endsWith('\n') ? 0 : 1
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines++
  return lines
}
