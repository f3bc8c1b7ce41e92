import type { Block, OpenText, ToolRun } from '../state/types.ts'
import { renderBlock } from './block.ts'
import { closeOpenText } from './split.ts'
import { indent, renderProgress, renderToolLine } from './tool/render.ts'
import type { RenderContext } from './view.ts'

/** What grows now, as lines: at most the last `view.rows` of them. */
export function renderOpen(open: OpenText, view: RenderContext): string[] {
  const agent = open.agent
  const { text, continues } = closeOpenText(open)
  const block: Block =
    open.kind === 'answer'
      ? { kind: 'answer', agent, text, isFirst: !open.hasBegun, continues }
      : { kind: 'thinking', text, isFirst: !open.hasBegun }
  return renderBlock(block, view).slice(-view.rows)
}

/** Lines of what a running call says. */
const PROGRESS_LINES = 3

/** The newest lines of what a command line of the person's prints. */
export function renderShell(progress: string, view: RenderContext): string[] {
  const lines = renderProgress({ progress }, PROGRESS_LINES, {
    ...view,
    columns: Math.max(1, view.columns - 2),
  })
  return lines.length === 0 ? [] : ['', ...indent(lines, view.columns)]
}

/** A call that is not printed yet: the gap before it, its line, and the newest lines of what it says. */
export function renderRunningTool(tool: ToolRun, view: RenderContext): string[] {
  const progress = renderProgress(tool, PROGRESS_LINES, { ...view, columns: Math.max(1, view.columns - 2) })
  return ['', renderToolLine(tool, [], view), ...indent(progress, view.columns)]
}
