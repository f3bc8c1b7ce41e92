import type { Cell, VisualLine } from '../text/layout.ts'
import { layOutPrompt } from '../text/prompt-edits.ts'
import { getSign, type Prompt, type PromptContext } from '../text/prompt-state.ts'
import { renderMenu } from './prompt-menu.ts'
import type { Section } from './section.ts'
import { paint } from './style.ts'
import { measureWidth, truncateText } from './text.ts'
import type { RenderContext } from './view.ts'
import { windowAround } from './window.ts'

/** Renders the prompt with its caret, and what belongs below it: the open menu, or what a key would do next. */
export function renderPrompt(
  prompt: Prompt,
  context: PromptContext,
  view: RenderContext,
): { text: Section; below: Section } {
  const { lines, caret } = renderText(prompt, context, view)
  const most = Math.min(MENU_ROWS, Math.max(1, Math.floor(view.rows / 2) - lines.length))
  const below = prompt.menu
    ? renderMenu(prompt.menu, view, most)
    : renderNextKey(nextKey(prompt, context), view)
  return { text: { lines, caret, ...PLACE }, below: { lines: below, ...PLACE } }
}

const MENU_ROWS = 8
const PLACE = { cut: 'tail', rank: 9 } as const

/** Renders the rows around the caret, at most a third of the terminal's. */
function renderText(prompt: Prompt, context: PromptContext, view: RenderContext) {
  const columns = Math.max(1, view.columns)
  if (prompt.text === '') return renderEmpty(context, { ...view, columns })
  const layout = layOutPrompt(prompt, { ...context, columns })
  const at = layout.at(prompt.caret)
  const most = Math.max(1, Math.floor(view.rows / 3))
  const { length } = layout.lines
  const { start: first, end } = windowAround(length, most, at.y)
  const shown = layout.lines.slice(first, end)
  const sign = getSign(prompt)
  const lines = shown.map((line, index) => {
    const isEdge = (index === 0 && first > 0) || (index === shown.length - 1 && end < length)
    const mark = isEdge ? paint('⋮', view.color, 'dim') : first + index === 0 ? paintSign(sign, view) : ' '
    return columns <= SIGN.length ? cellsText(line, view) : `${mark} ${cellsText(line, view)}`
  })
  const isOnSign = sign !== undefined && prompt.caret === 0
  const x = isOnSign ? 0 : at.x + SIGN.length
  return { lines, caret: { x: Math.min(x, columns - 1), y: at.y - first } }
}

function renderEmpty({ isBusy, placeholder }: PromptContext, view: RenderContext) {
  const room = Math.max(0, edge(view) - SIGN.length)
  const offered = placeholder === undefined ? (isBusy ? BUSY : IDLE) : [placeholder]
  const text = offered.find((words) => words.length <= room) ?? ''
  const line = `${paintSign(undefined, view)} ${paint(text, view.color, 'dim')}`
  const isNarrow = view.columns <= SIGN.length
  return {
    lines: [isNarrow ? '' : line],
    caret: { x: Math.min(SIGN.length, view.columns - 1), y: 0 },
  }
}

const SIGN = '> '
/** The placeholders of an empty prompt; the first one that fits is shown. */
const IDLE = ['Ask anything · @ files · / commands · ? help', 'Ask anything · ? help', 'Ask anything']
const BUSY = ['Enter steers · Tab queues · Esc interrupts', 'Esc interrupts']

function paintSign(sign: '!' | '#' | undefined, { color }: RenderContext): string {
  return paint(sign ?? '>', color, sign === undefined ? 'accent' : 'warning', 'bold')
}

function cellsText({ cells }: VisualLine, { color }: RenderContext): string {
  return cells.map((cell) => toText(cell, color)).join('')
}

function toText({ text, isPaste }: Cell, color: boolean): string {
  return isPaste ? paint(text, color, 'accent') : text
}

/** Describes what the next key would do, in texts of which the first one that fits is shown; empty for nothing. */
function nextKey(prompt: Prompt, context: PromptContext): readonly string[] {
  if (prompt.armed === 'leave') return ['Ctrl+C again to leave']
  if (prompt.armed === 'clear') return ['Esc again to clear']
  if (prompt.armed === 'rewind')
    return ['Esc again to go back to an earlier message', 'Esc again to go back to a message']
  const sign = getSign(prompt)
  if (sign !== undefined) return SIGNS[sign]
  return context.isBusy && prompt.text !== '' && !context.isAnswer ? ['Enter steers · Tab queues'] : []
}

const SIGNS = {
  '!': ['shell command'],
  '#': [
    'note for the memory · start with a space to send it instead',
    'memory note · type a space to send it',
  ],
} as const

function renderNextKey(texts: readonly string[], view: RenderContext): string[] {
  const lines = texts.map((text) => `  ${text}`)
  const line = lines.find((text) => measureWidth(text) <= edge(view)) ?? lines.at(-1)
  return line === undefined ? [] : [paint(truncateText(line, edge(view)), view.color, 'dim')]
}

function edge({ columns }: RenderContext): number {
  return Math.max(0, columns - 1)
}
