import type { FileDiff } from '../../../core/protocol/crabtalk.generated.ts'
import { FILE_CHANGE_WORDS } from '../../../core/protocol/file-change-words.ts'
import { cleanLine } from '../clean.ts'
import { paint } from '../style.ts'
import { truncateText } from '../text.ts'
import type { RenderContext } from '../view.ts'
import { renderDiff } from './diff.ts'
import { readUnifiedDiff } from './diff-lines.ts'

/** Renders the change of a file: its name and counts, then all lines of the diff. */
export function renderFileDiff(file: FileDiff, view: RenderContext): string[] {
  const { columns, color } = view
  const counts = `+${file.added} −${file.removed}`
  const head = `${cleanLine(file.path)} · ${FILE_CHANGE_WORDS[file.change]} · ${counts}`
  const title = paint(truncateText(head, columns), color, 'heading')
  if (file.diff === '') return [title, paint(truncateText(cleanLine(file.reason), columns), color, 'dim')]
  return [title, ...renderDiff(readUnifiedDiff(file.diff) ?? [], { path: file.path }, view)]
}
