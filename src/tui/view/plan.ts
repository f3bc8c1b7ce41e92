import { parseObject } from '../../core/base/json.ts'
import { PLAN_RESULTS, PRESENT_PLAN } from '../../core/base/plan-answers.ts'
import type { ToolRun } from './blocks.ts'
import { cleanLine } from './clean.ts'
import { renderMarkdown } from './markdown/render.ts'
import { paint, type TextStyle } from './style.ts'
import { wrapLines } from './text.ts'
import type { RenderContext } from './view.ts'

/** Returns the plan that a call presents; undefined for any other call, and for one without a plan. */
export function readPlan({ name, server, arguments: args }: ToolRun): string | undefined {
  if (name !== PRESENT_PLAN || server !== '') return undefined
  const plan = parseObject(args)?.['plan']
  return typeof plan === 'string' && plan.trim() !== '' ? plan : undefined
}

/** Renders a presented plan: how it was answered, and below it the plan as Markdown. */
export function renderPlan(plan: string, { output }: ToolRun, view: RenderContext): string[] {
  const { columns, color } = view
  const { mark, style, text } = describeAnswer(output)
  const [first = '', ...more] = wrapLines(`Plan · ${text}`, Math.max(1, columns - 2))
  const title = [
    `${paint(mark, color, style)} ${paint(first, color, 'bold')}`,
    ...more.map((row) => `  ${row}`),
  ]
  const bar = columns > BAR.length ? paint(BAR, color, 'dim') : ''
  const body = renderMarkdown(plan, { ...view, columns: columns - (bar === '' ? 0 : BAR.length) })
  return [...title, ...body.map((line) => `${bar}${line}`.trimEnd())]
}

const BAR = '  │ '

interface PlanAnswer {
  mark: string
  style: TextStyle
  text: string
}

function describeAnswer(output: string): PlanAnswer {
  if (output === PLAN_RESULTS.accepted) return { mark: '✓', style: 'success', text: 'accepted' }
  if (output === PLAN_RESULTS.acceptedEdits)
    return { mark: '✓', style: 'success', text: 'accepted, edits allowed' }
  const changes = output.startsWith(PLAN_RESULTS.changes)
    ? output.slice(PLAN_RESULTS.changes.length).trim()
    : ''
  return {
    mark: '⊘',
    style: 'warning',
    text: changes === '' ? 'not accepted' : `changes asked for: ${cleanLine(changes)}`,
  }
}
