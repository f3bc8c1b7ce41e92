import { isObject } from '../../core/base/json.ts'
import type { JsonObject } from '../../core/base/message.ts'
import type { Connection } from '../connection/connection.ts'
import { readPages } from '../connection/pages.ts'
import { limitDescription, toPrintableLine } from '../tools/server-text.ts'
import type { PromptArgumentView, PromptView } from '../types.ts'

/** Lists the prompts of a server in its order; empty for a server without any. Throws as Connection does. */
export async function listPrompts(connection: Connection, signal: AbortSignal): Promise<PromptView[]> {
  const { items } = await connection.readPages('prompts/list', (page) => readPages(page, 'prompts'), signal)
  return items.flatMap((item) => {
    const { name, title } = item
    if (!isName(name)) return []
    const args = Array.isArray(item['arguments']) ? item['arguments'] : []
    const description = readDescription(item) || (typeof title === 'string' ? toPrintableLine(title) : '')
    return [
      { name, description, arguments: args.filter(isObject).slice(0, MAX_ARGUMENTS).flatMap(toArgument) },
    ]
  })
}

function toArgument(item: JsonObject): PromptArgumentView[] {
  const { name, required } = item
  return isName(name) ? [{ name, description: readDescription(item), isRequired: required === true }] : []
}

/** Whether a value is a name that can be typed as one word. */
function isName(name: unknown): name is string {
  return (
    typeof name === 'string' &&
    name !== '' &&
    name.length <= MAX_NAME &&
    !/[\s=\p{Cc}\p{Cf}\p{Cs}]/u.test(name)
  )
}

function readDescription({ description }: JsonObject): string {
  return typeof description === 'string' ? limitDescription(description) : ''
}

const MAX_NAME = 128
const MAX_ARGUMENTS = 30
