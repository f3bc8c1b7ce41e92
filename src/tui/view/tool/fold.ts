import type { Block, ToolRun } from '../blocks.ts'

/** Whether a call only looks something up, so that several of them are shown as one line. */
function isLookUp({ name, server }: Pick<ToolRun, 'name' | 'server'>): boolean {
  return server === '' && LOOK_UPS.has(name)
}

const LOOK_UPS: ReadonlySet<string> = new Set(['read', 'grep', 'glob'])

/** Whether a call is part of such a line: those that failed have a line of their own. */
function isFolded(tool: ToolRun): boolean {
  return isLookUp(tool) && tool.state === 'done'
}

/**
 * Converts calls to blocks: consecutive reads and searches become one block. `follows` says whether the block
 * before the first one is a call, too.
 */
export function foldCalls(tools: readonly ToolRun[], follows: boolean): Block[] {
  const runs: ToolRun[][] = []
  for (const tool of tools) {
    const last = runs.at(-1)
    if (last?.every(isFolded) && isFolded(tool)) last.push(tool)
    else runs.push([tool])
  }
  return runs.map((run, at): Block => {
    const isNext = follows || at > 0
    return run.length > 1
      ? { kind: 'look-ups', tools: run, follows: isNext }
      : { kind: 'tool', tool: run[0]!, follows: isNext }
  })
}

/** Folds the calls among the blocks of a conversation. */
export function foldBlocks(blocks: readonly Block[]): Block[] {
  const folded: Block[] = []
  for (let at = 0; at < blocks.length; ) {
    const end = blocks.findIndex((block, index) => index >= at && block.kind !== 'tool')
    const calls = blocks.slice(at, end < 0 ? undefined : end)
    folded.push(
      ...foldCalls(
        calls.flatMap((block) => (block.kind === 'tool' ? [block.tool] : [])),
        false,
      ),
    )
    if (end < 0) break
    folded.push(blocks[end]!)
    at = end + 1
  }
  return folded
}

/** Whether the line of the next call follows this block without a gap. */
export function isCallBlock({ kind }: Block): boolean {
  return kind === 'tool' || kind === 'look-ups'
}

/**
 * Returns the number of finished calls, from the first on, that can be printed. The reads and searches at
 * their end wait for those that may follow, unless the turn `isOver`.
 */
export function countPrintable(tools: readonly ToolRun[], isOver: boolean): number {
  const running = tools.findIndex((tool) => tool.state === 'running')
  const finished = running < 0 ? tools : tools.slice(0, running)
  const next = tools[finished.length]
  if (isOver || (next && !isLookUp(next))) return finished.length
  return finished.findLastIndex((tool) => !isFolded(tool)) + 1
}
