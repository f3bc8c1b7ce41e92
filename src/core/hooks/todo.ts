import { formatTodoProgress, readTodoItems, TODO } from '../base/todo.ts'
import type { ToolSpec } from '../provider/types.ts'
import type { Hook, ToolDispatch, ToolGroup, ToolOutput } from '../runtime/hook.ts'

/**
 * Provides the tool `todo`: the steps of a longer task, which the model writes as a whole each time. Clients show
 * the list from the arguments of the call; nothing is stored but the call itself. It needs no permission.
 */
export function todoHook(): Hook {
  return {
    schema: () => [SPEC],
    groups: () => [GROUP],
    dispatch: (name, call) => (name === TODO ? Promise.resolve(updateTodo(call)) : undefined),
  }
}

const GROUP: ToolGroup = {
  id: 'todo',
  title: 'Steps',
  description: 'Show the steps of a longer task',
  tools: [TODO],
}

/** Terse, because it is sent with every request. */
const SPEC: ToolSpec = {
  name: TODO,
  description: 'List all steps of a long task each time: "[x] done", "[>] doing", "[ ] next"',
  parameters: { type: 'object', properties: { items: { type: 'array', items: { type: 'string' } } } },
  readOnly: true,
}

/** The maximum number of items, and the maximum length of one in UTF-16 units. */
const MAX_ITEMS = 50
const MAX_TEXT = 500

function updateTodo({ args }: ToolDispatch): ToolOutput {
  const items = readTodoItems(args)
  if (!items) return fail(`Cannot update the list: items must be of this shape: ${SHAPE}`)
  if (items.length > MAX_ITEMS) return fail(`Cannot update the list: it has more than ${MAX_ITEMS} items`)
  const isLong = items.some(({ text }) => text.length > MAX_TEXT)
  if (isLong) return fail(`Cannot update the list: an item is longer than ${MAX_TEXT} characters`)
  return { output: formatTodoProgress(items), isError: false }
}

/** The expected shape, as the model is shown it. */
const SHAPE = '["[x] a step that is done", "[>] the one in progress", "[ ] one that follows"]'

function fail(output: string): ToolOutput {
  return { output, isError: true }
}
