import { isObject, parseObject } from '../../../core/base/json.ts'
import type { ToolRun } from '../blocks.ts'
import { type DiffLine, diffTexts, readUnifiedDiff } from './diff-lines.ts'
import { textOrEmpty } from './headline.ts'

/**
 * Computes the change of an `edit` or `write` call from the diff of its card or its result. A stored call has
 * neither, so its change is computed from its arguments.
 */
export function computeChange(tool: ToolRun): readonly DiffLine[] {
  if (tool.server !== '' || (tool.name !== 'edit' && tool.name !== 'write')) return []
  const shown = tool.diff === '' ? undefined : readUnifiedDiff(tool.diff)
  if (shown) return shown
  const args = parseObject(tool.arguments) ?? {}
  return tool.name === 'edit' ? diffEdits(args, tool.output) : diffCreatedFile(args, tool.output)
}

function diffEdits(args: Readonly<Record<string, unknown>>, output: string): DiffLine[] {
  const places = readPlaces(output)
  return readEdits(args).flatMap(({ old: before, new: after }, i) => {
    const lines = diffTexts(before, after, findLineNumber(after, places))
    return i === 0 ? lines : [{ kind: 'gap' as const, number: 0, text: '' }, ...lines]
  })
}

/** Reads the replacements of a call: a list, a single one, or the arguments of the call itself. */
function readEdits(args: Readonly<Record<string, unknown>>): { old: string; new: string }[] {
  const edits = args['edits'] ?? args
  const list: unknown[] = Array.isArray(edits) ? edits : [edits]
  return list.filter(isObject).map((edit) => ({
    old: textOrEmpty(edit['old'] ?? edit['old_string']),
    new: textOrEmpty(edit['new'] ?? edit['new_string']),
  }))
}

/** Diffs the content of a new file; for an existing file the previous content is not known. */
function diffCreatedFile(args: Readonly<Record<string, unknown>>, output: string): DiffLine[] {
  if (!output.startsWith('Created ')) return []
  return diffTexts('', textOrEmpty(args['content']), 1)
}

/** Maps the lines shown in the result of `edit` to their line numbers in the file. */
function readPlaces(output: string): Map<string, number> {
  const places = new Map<string, number>()
  let number = 0
  for (const line of output.split('\n')) {
    const block = /^\[lines (\d+)-\d+ of \d+\]$/.exec(line)
    if (block) number = Number(block[1])
    else if (number > 0) {
      if (!places.has(line)) places.set(line, number)
      number++
    }
  }
  return places
}

/** Returns the line number of a text's first line; 0 when it is not known or the text starts within a line. */
function findLineNumber(text: string, places: ReadonlyMap<string, number>): number {
  const first = text.split('\n', 1)[0] ?? ''
  return first.trim() === '' ? 0 : (places.get(first.replace(/\r$/, '')) ?? 0)
}
