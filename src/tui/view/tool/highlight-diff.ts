import type { Highlight } from '../view.ts'
import type { DiffLine } from './diff-lines.ts'

/**
 * Colors the code of a diff: the lines before the change and those after it are each read as one text per hunk,
 * because a comment or a string may span lines. Undefined for an unknown language.
 */
export function highlightDiff(
  lines: readonly DiffLine[],
  texts: readonly string[],
  { path, highlight }: { path: string; highlight: Highlight | undefined },
): readonly string[] | undefined {
  const language = findLanguage(path)
  if (!highlight || language === '') return undefined
  const painted = [...texts]
  for (const hunk of splitHunks(lines)) {
    for (const other of ['added', 'removed'] as const) {
      const side = hunk.filter((at) => lines[at]!.kind !== other)
      const code = highlight(side.map((at) => texts[at]).join('\n'), language)
      if (code?.length !== side.length) return undefined
      for (const [index, at] of side.entries()) painted[at] = code[index]!
    }
  }
  return painted
}

/** Returns the name of a file's language as the highlighter knows it: its extension, or the name itself. */
function findLanguage(path: string): string {
  const name = path.split(/[/\\]/).at(-1) ?? ''
  return (/\.(\w+)$/.exec(name)?.[1] ?? name).toLowerCase()
}

/** Returns the indexes of the lines of each hunk. */
function splitHunks(lines: readonly DiffLine[]): number[][] {
  const hunks: number[][] = [[]]
  for (const [at, { kind }] of lines.entries()) {
    if (kind === 'gap') hunks.push([])
    else hunks.at(-1)!.push(at)
  }
  return hunks.filter(({ length }) => length > 0)
}
