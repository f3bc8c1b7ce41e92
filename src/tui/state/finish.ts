import { withReturned } from '../text/prompt.ts'
import type { Block, OpenText, ToolRun } from '../view/blocks.ts'
import { splitClosed } from '../view/markdown/split.ts'
import { isCurrent } from './pending-asks.ts'
import type { ChatState } from './types.ts'

/** Adds a block to those that will be printed. */
export function finish(state: ChatState, block: Block): ChatState {
  return finishBlocks(state, [block])
}

function finishBlocks(state: ChatState, blocks: readonly Block[]): ChatState {
  const { nextId, finished } = state
  const numbered = blocks.map((block, at) => ({ id: nextId + at, block }))
  return { ...state, nextId: nextId + blocks.length, finished: [...finished, ...numbered] }
}

/** Closes the finished parts of the open text, or all of it when `isOver`. */
export function closeText(state: ChatState, isOver: boolean): ChatState {
  const { open } = state
  if (!open) return state
  const { closed, text, carry } = splitClosed(open, isOver)
  if (closed.length === 0 && !isOver) return state
  const blocks = closed.map((part, at) => toBlock(open, part, at === 0 && !open.hasClosedParts))
  const printed = finishBlocks(state, blocks)
  if (isOver) return { ...printed, open: undefined }
  return { ...printed, open: { ...open, text, carry, hasClosedParts: true } }
}

function toBlock(
  { kind, agent }: OpenText,
  part: { text: string; continues: boolean },
  isFirst: boolean,
): Block {
  if (kind === 'thinking') return { kind, text: part.text, isFirst }
  return { kind, agent, text: part.text, isFirst, continues: part.continues }
}

/** Prints the finished calls in call order, up to the first that is still running. */
export function finishTools(state: ChatState): ChatState {
  const running = state.tools.findIndex((tool) => tool.state === 'running')
  const finished = running < 0 ? state.tools : state.tools.slice(0, running)
  if (finished.length === 0) return state
  const printed = finished.reduce((before, tool) => finish(before, { kind: 'tool', tool }), state)
  return { ...printed, tools: state.tools.slice(finished.length) }
}

/** Prints everything that is open because the turn has ended. A call without a result counts as interrupted. */
export function finishAll(state: ChatState): ChatState {
  const closed = closeText(state, true)
  const tools = closed.tools.map((tool): ToolRun => (tool.state === 'running' ? interrupted(tool) : tool))
  const elsewhere = state.asks.filter((card) => !isCurrent(state, card))
  const finished = { ...finishTools({ ...closed, tools }), asks: elsewhere, returned: [] }
  return backToPrompt(finished, state.returned)
}

function interrupted(tool: ToolRun): ToolRun {
  return { ...tool, state: 'failed', output: tool.output || 'Interrupted' }
}

/** Puts unsent texts back in front of the draft. */
export function backToPrompt(state: ChatState, texts: readonly string[]): ChatState {
  return { ...state, prompt: withReturned(state.prompt, texts) }
}
