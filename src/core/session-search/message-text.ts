import { isObject } from '../base/json.ts'
import type { Message } from '../base/message.ts'
import { isSecretKey } from '../base/secret-key.ts'

/** What a message says as text: what was typed of it, or its content, then each call with the values of its arguments, those of secrets aside. */
export function messageText({ typed, content, tool_calls: calls = [] }: Message): string {
  if (calls.length === 0) return typed ?? content
  const lines = calls.map((call) => `${call.name} ${argumentText(call.arguments)}`.trim())
  return [...(content.trim() === '' ? [] : [content]), ...lines].join('\n')
}

/** Arguments that are no JSON stand as the model wrote them. */
function argumentText(json: string): string {
  const args = parse(json)
  if (args === undefined) return json
  const words: string[] = []
  const open: unknown[] = [args]
  while (open.length > 0 && words.length < MAX_WORDS) {
    const value = open.pop()
    if (Array.isArray(value)) open.push(...value.slice(0, MAX_WORDS).reverse())
    else if (isObject(value)) open.push(...openValues(value).reverse())
    else if (value !== null && value !== '') words.push(String(value))
  }
  return words.join(' ')
}

function openValues(table: Record<string, unknown>): unknown[] {
  return Object.entries(table)
    .slice(0, MAX_WORDS)
    .filter(([name, value]) => isObject(value) || !isSecretKey(name))
    .map(([, value]) => value)
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined // what it is instead is its text
  }
}

const MAX_WORDS = 10_000
