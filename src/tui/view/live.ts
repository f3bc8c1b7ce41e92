import type { OpenText, ToolRun } from '../state/types.ts'
import type { View } from './view.ts'

/** What grows now, as lines: at most the last `view.rows` of them. */
export function renderOpen(open: OpenText, view: View): string[] {
  return open.text.split('\n').slice(-view.rows)
}

/** A call that is not printed yet. */
export function renderRunningTool(tool: ToolRun, _view: View): string[] {
  return [tool.name]
}
