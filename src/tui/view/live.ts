import { renderBlock } from './block.ts'
import type { Block, OpenText, ToolRun } from './blocks.ts'
import { closeOpenText } from './markdown/split.ts'
import { foldCalls } from './tool/fold.ts'
import { indent, renderProgress, renderToolLine } from './tool/render.ts'
import type { RenderContext } from './view.ts'

/** Renders the streaming text, at most its last `view.rows` lines. */
export function renderOpen(open: OpenText, view: RenderContext): string[] {
  const agent = open.agent
  const { text, continues } = closeOpenText(open)
  const block: Block =
    open.kind === 'answer'
      ? { kind: 'answer', agent, text, isFirst: !open.hasClosedParts, continues }
      : { kind: 'thinking', text, isFirst: !open.hasClosedParts }
  return renderBlock(block, view).slice(-view.rows)
}

/** The maximum progress lines of a running call. */
const PROGRESS_LINES = 3

/** Renders the newest output lines of the user's shell command. */
export function renderShell(progress: string, view: RenderContext): string[] {
  const lines = renderProgress({ progress }, PROGRESS_LINES, {
    ...view,
    columns: Math.max(1, view.columns - 2),
  })
  return lines.length === 0 ? [] : ['', ...indent(lines, view.columns)]
}

/**
 * Renders the calls that are not printed yet: the finished reads and searches as they will be printed, the
 * others with their newest progress lines. `follows` says whether the last printed block is a call.
 */
export function renderCalls(tools: readonly ToolRun[], follows: boolean, view: RenderContext): string[] {
  const open = tools.findIndex(({ state }) => state === 'running')
  const done = open < 0 ? tools : tools.slice(0, open)
  const finished = foldCalls(done, follows).flatMap((block) => renderBlock(block, view))
  const running = tools.slice(done.length).flatMap((tool) => renderRunningTool(tool, view))
  const needsGap = running.length > 0 && finished.length === 0 && !follows
  return [...finished, ...(needsGap ? [''] : []), ...running]
}

/** Renders the line of a call, and its newest progress lines. */
function renderRunningTool(tool: ToolRun, view: RenderContext): string[] {
  const progress = renderProgress(tool, PROGRESS_LINES, { ...view, columns: Math.max(1, view.columns - 2) })
  return [renderToolLine(tool, [], view), ...indent(progress, view.columns)]
}
