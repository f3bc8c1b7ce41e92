import { withReturned } from '../text/prompt-state.ts'
import type { Block, OpenText, ToolRun } from '../view/blocks.ts'
import { splitClosed } from '../view/markdown/split.ts'
import { countPrintable, foldCalls, isCallBlock } from '../view/tool/fold.ts'
import { isCurrent } from './pending-asks.ts'
import type { ChatState } from './types.ts'
import { toWelcome } from './welcome.ts'

/** Adds a block to those that will be printed, after the calls that are finished. */
export function finish(state: ChatState, block: Block): ChatState {
  return finishBlocks(flushTools(state), [block])
}

/** Prints the welcome if nothing has been printed yet. */
export function finishWelcome(state: ChatState): ChatState {
  const welcome = toWelcome(state)
  if (!welcome) return state
  return { ...finishBlocks({ ...state, welcome: undefined }, [welcome]), isWelcomeLast: true }
}

function finishBlocks(state: ChatState, added: readonly Block[]): ChatState {
  const { nextId, finished } = state
  const welcome = added.length > 0 ? toWelcome(state) : undefined
  const blocks = welcome ? [welcome, ...added] : added
  const numbered = blocks.map((block, at) => ({ id: nextId + at, block }))
  const last = blocks.findLast((block) => block.kind !== 'thinking' || block.isFirst) // others are hidden
  const isAfterCall = last ? isCallBlock(last) : state.isAfterCall
  const left = welcome ? { ...state, welcome: undefined } : state
  const isWelcomeLast = state.isWelcomeLast && blocks.length === 0
  return {
    ...left,
    isAfterCall,
    isWelcomeLast,
    nextId: nextId + blocks.length,
    finished: [...finished, ...numbered],
  }
}

/** Closes the finished parts of the open text, or all of it when `isOver`. Void text is only closed as a whole. */
export function closeText(state: ChatState, isOver: boolean): ChatState {
  const { open } = state
  if (!open || (open.isVoid && !isOver)) return state
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

/**
 * Prints the finished calls in call order, up to the first that is still running. Reads and searches wait for
 * those that may follow, because they are printed together.
 */
export function finishTools(state: ChatState): ChatState {
  return printTools(state, countPrintable(state.tools, false))
}

/** Prints the finished calls, also those that wait for others, because something else comes next. */
export function flushTools(state: ChatState): ChatState {
  return printTools(state, countPrintable(state.tools, true))
}

function printTools(state: ChatState, count: number): ChatState {
  if (count === 0) return state
  const { tools, isAfterCall } = state
  return { ...finishBlocks(state, foldCalls(tools.slice(0, count), isAfterCall)), tools: tools.slice(count) }
}

/** Prints everything that is open because the turn has ended. A call without a result counts as interrupted. */
export function finishAll(state: ChatState): ChatState {
  const closed = closeText(state, true)
  const tools = closed.tools.map((tool): ToolRun => (tool.state === 'running' ? interrupted(tool) : tool))
  const elsewhere = state.asks.filter((card) => !isCurrent(state, card))
  const finished = { ...flushTools({ ...closed, tools }), asks: elsewhere, returned: [] }
  return backToPrompt(finished, state.returned)
}

function interrupted(tool: ToolRun): ToolRun {
  return { ...tool, state: 'failed', output: tool.output || 'Interrupted' }
}

/** Puts unsent texts back in front of the draft. */
export function backToPrompt(state: ChatState, texts: readonly string[]): ChatState {
  return { ...state, prompt: withReturned(state.prompt, texts) }
}
