import type { OpenText, ToolRun } from '../state/types.ts'
import { renderPart } from './markdown/render.ts'
import { indent, renderProgress, renderToolLine } from './tool/render.ts'
import type { View } from './view.ts'

/** What grows now, as lines: at most the last `view.rows` of them. */
export function renderOpen(open: OpenText, view: View): string[] {
  return renderPart(open.text, open.hasBegun, view).slice(-view.rows)
}

/** Lines of what a running call says. */
const PROGRESS_LINES = 3

/** A call that is not printed yet: its line, and the newest lines of what it says. */
export function renderRunningTool(tool: ToolRun, view: View): string[] {
  const progress = renderProgress(tool, PROGRESS_LINES, { ...view, columns: Math.max(1, view.columns - 2) })
  return [renderToolLine(tool, [], view), ...indent(progress, view.columns)]
}
