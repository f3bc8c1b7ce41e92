import { isObject } from '../base/json.ts'
import type { Message } from '../base/message.ts'
import { isSecretValue, listSecretParts, type SecretPart } from '../base/secrets/secret-parts.ts'
import { toTypedText } from '../base/typed-message.ts'

/**
 * Returns the searchable text of a message: what the user typed, or its content, followed by each tool call
 * with the values of its arguments except secrets.
 */
export function messageText({ role, typed, content, tool_calls: calls = [] }: Message): string {
  if (role === 'user') return toTypedText(typed ?? content)
  if (calls.length === 0) return typed ?? content
  const lines = calls.map((call) => `${call.name} ${argumentText(call.arguments)}`.trim())
  return [...(content.trim() === '' ? [] : [content]), ...lines].join('\n')
}

/** Returns the argument values as words; arguments that are not JSON are returned as the model wrote them. */
function argumentText(json: string): string {
  const args = parse(json)
  if (args === undefined) return json
  const words: string[] = []
  const open: Open[] = [{ value: args, inCredentials: false }]
  while (open.length > 0 && words.length < MAX_WORDS) {
    const { value, inCredentials } = open.pop()!
    if (Array.isArray(value)) {
      const items = value.slice(0, MAX_WORDS)
      open.push(...items.map((one: unknown) => ({ value: one, inCredentials })).reverse())
    } else if (isObject(value)) open.push(...openParts(value, inCredentials).reverse())
    else if (value !== null && value !== '') words.push(String(value))
  }
  return words.join(' ')
}

type Open = Pick<SecretPart, 'value' | 'inCredentials'>

function openParts(table: Record<string, unknown>, inCredentials: boolean): Open[] {
  return listSecretParts(table, inCredentials).slice(0, MAX_WORDS).filter(isOpen)
}

/**
 * Whether a member is part of the text: objects are descended into; lists and other values that are secret
 * are left out.
 */
function isOpen({ value, verdict }: SecretPart): boolean {
  if (isObject(value)) return true
  return typeof value === 'string' ? !isSecretValue(verdict, value) : verdict !== 'always'
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined // the caller uses the raw text instead
  }
}

const MAX_WORDS = 10_000
