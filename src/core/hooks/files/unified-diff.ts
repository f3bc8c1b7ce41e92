/** The most changed lines for which a diff is computed. */
const MAX_EDIT_LENGTH = 2_000
/** The largest texts that are compared, in UTF-16 units together. */
const MAX_COMPARED = 4_000_000

/** The texts to compare. */
export interface TextChange {
  before: string
  after: string
  /** The longest diff, in UTF-16 units; the rest is left out. */
  maxChars: number
}

/** Returns a unified diff of a file's texts; undefined for texts that differ too much. */
export async function unifiedDiff(
  name: string,
  { before, after, maxChars }: TextChange,
): Promise<string | undefined> {
  if (before.length + after.length > MAX_COMPARED) return undefined
  const { createTwoFilesPatch, FILE_HEADERS_ONLY } = await import('diff')
  const isSimple = before === '' || after === '' // every line changes, so the diff is trivial
  const maxEditLength = isSimple ? Number.POSITIVE_INFINITY : MAX_EDIT_LENGTH
  const options = { context: 3, maxEditLength, headerOptions: FILE_HEADERS_ONLY }
  const patch = createTwoFilesPatch(name, name, before, after, undefined, undefined, options)
  if (patch === undefined || patch.length <= maxChars) return patch
  const head = patch.slice(0, patch.lastIndexOf('\n', maxChars) + 1)
  return `${head}[… ${patch.length - head.length} more characters]\n`
}

/** Counts the added and removed lines of a unified diff of one file. */
export function countDiffLines(diff: string): { added: number; removed: number } {
  const lines = diff.slice(Math.max(0, diff.indexOf('\n@@'))).split('\n')
  return {
    added: lines.filter((line) => line.startsWith('+')).length,
    removed: lines.filter((line) => line.startsWith('-')).length,
  }
}
