import type { TextIndex } from '../search/text-index.ts'
import { NO_OFFSET } from '../search/types.ts'
import type { SessionLine } from '../storage/types.ts'
import { toDocuments } from './documents.ts'
import { DOCUMENT_KINDS } from './types.ts'

/** Adds the documents of a line that was just written; a title or summary replaces the previous one. */
export function addLine(
  text: TextIndex,
  { group, offset }: { group: number; offset: number },
  line: SessionLine,
): void {
  const place = { group, offset: Math.min(offset, NO_OFFSET), time: Date.parse(line.ts) || 0 }
  for (const { kind, text: words } of toDocuments(line)) {
    const isOnly = ONLY_ONE.has(kind)
    if (isOnly) text.removeDocuments(group, kind)
    if (words !== '') text.add({ ...place, kind, seq: isOnly ? 0 : line.seq }, words)
  }
}

/** The kinds of which a session has at most one document. */
const ONLY_ONE: ReadonlySet<number> = new Set([
  DOCUMENT_KINDS.indexOf('title'),
  DOCUMENT_KINDS.indexOf('summary'),
])
