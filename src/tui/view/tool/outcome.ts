import { formatDuration, pluralize } from '../../../core/base/format.ts'
import { isUnanswered } from '../../../core/base/not-run.ts'
import { DeniedBy } from '../../../core/protocol/crabtalk.generated.ts'
import type { ToolRun } from '../blocks.ts'
import { countChanges } from './diff.ts'
import type { DiffLine } from './diff-lines.ts'

/** Describes the result of a call for the end of its line: `exit 1`, `34 lines`, `+3 −1`, and its duration. */
export function describeOutcome(tool: ToolRun, change: readonly DiffLine[]): string[] {
  if (tool.state === 'running') return []
  if (tool.state === 'denied') return [describeDenial(tool)]
  if (tool.state === 'skipped') return [isUnanswered(tool.name, tool.output) ? 'no answer' : 'not run']
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
  if (state === 'failed') return []
  if (change.length > 0) return [countChanges(change)]
  if (server !== '') return []
  if (output === '[no output]' || output === 'No matches.' || output === 'No files found.')
    return [output.replace(/[[\].]/g, '').toLowerCase()]
  const describe = Object.hasOwn(AMOUNTS, name) ? AMOUNTS[name] : undefined
  return describe ? [describe(output)] : []
}

/** Describes how much each tool has found. The lines of a command are shown below its line. */
const AMOUNTS: Readonly<Record<string, (output: string) => string>> = {
  read: (output) => pluralize(countLines(output), 'line'),
  todo: (output) => output,
  grep: describeMatches,
  glob: describeFiles,
}

/** Counts the matching lines of a search, which stand below the names of their files. */
function describeMatches(output: string): string {
  const lines = output.split('\n')
  const matches = lines.filter((line) => /^\d+:/.test(line)).length
  if (matches === 0) return describeFiles(output)
  const left = Number(/^\[(\d+) more lines match/m.exec(output)?.[1] ?? 0)
  if (left > 0) return pluralize(matches + left, 'match', 'matches')
  const files = lines.filter(
    (line, at) => line !== '' && !/^\d+[:-]|^--$|^\[/.test(line) && (at === 0 || lines[at - 1] === ''),
  ).length
  return `${pluralize(matches, 'match', 'matches')} in ${pluralize(files, 'file')}`
}

function describeFiles(output: string): string {
  const left = Number(/^\[(\d+) more\]$/m.exec(output)?.[1] ?? 0)
  const files = output.split('\n').filter((line) => line !== '' && !line.startsWith('[')).length
  return pluralize(files + left, 'file')
}

function countLines(text: string): number {
  let lines = text === '' || text.endsWith('\n') ? 0 : 1
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines++
  return lines
}
