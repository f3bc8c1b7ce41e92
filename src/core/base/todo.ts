import { isObject } from './json.ts'

/** The name of the tool with which a model keeps the steps of a longer task. */
export const TODO = 'todo'

/** A step of a task, with the keys of the JSON output. */
export interface TodoItem {
  text: string
  status: TodoStatus
}

export type TodoStatus = 'pending' | 'in_progress' | 'done'

/** The status by the sign of a checklist, and by the words that models use in place of it. */
const STATUSES: Readonly<Record<string, TodoStatus>> = {
  ...{ '[ ]': 'pending', '[>]': 'in_progress', '[~]': 'in_progress', '[x]': 'done', '[X]': 'done' },
  ...{ pending: 'pending', in_progress: 'in_progress', completed: 'done', done: 'done' },
}

/**
 * Reads the items of a call, lines of a checklist such as `[x] Read the code`; undefined when they are not of this
 * shape. Lines without a sign are pending, and lines without text are left out. Objects with a text and a status
 * are read as well, since models know them from other programs.
 */
export function readTodoItems({ items }: Readonly<Record<string, unknown>>): TodoItem[] | undefined {
  if (!Array.isArray(items)) return undefined
  const read = items.map(readItem)
  return read.includes(undefined) ? undefined : read.flatMap((item) => (item?.text ? [item] : []))
}

function readItem(item: unknown): TodoItem | undefined {
  if (typeof item === 'string') return readLine(item)
  if (!isObject(item)) return undefined
  const { text, content = text, status = 'pending' } = item
  const known = Object.hasOwn(STATUSES, String(status)) ? STATUSES[String(status)] : undefined
  return typeof content === 'string' && known ? { text: content.trim(), status: known } : undefined
}

function readLine(line: string): TodoItem {
  const [, sign = '[ ]', text = ''] = /^\s*(?:[-*] )?(\[[ >~xX]\])?\s*(.*)$/s.exec(line) ?? []
  return { text: text.trim(), status: STATUSES[sign]! }
}

/** Formats how far a list is, such as `2 of 5 done`. */
export function formatTodoProgress(items: readonly TodoItem[]): string {
  return `${items.filter(({ status }) => status === 'done').length} of ${items.length} done`
}
