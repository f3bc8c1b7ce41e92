import { isObject } from '../../core/base/json.ts'
import type { JsonObject } from '../../core/base/message.ts'

/**
 * Whether an argument named `token` is a pagination cursor, judging by its title or description. No other
 * secret name is excused like that, because the description comes from the server.
 */
export function isPageToken(name: string, schema: JsonObject | undefined): boolean {
  if (name.toLowerCase() !== 'token') return false
  const properties = schema?.['properties']
  const declared = isObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined
  if (!isObject(declared)) return false
  const words = [declared['title'], declared['description']]
    .filter((word) => typeof word === 'string')
    .join(' ')
  return (
    /\b(?:pag(?:e|es|ing|ination)|cursor|continuation|continue|next|resume|sync)\b/i.test(words) &&
    !ABOUT_ACCESS.test(words)
  )
}

const ABOUT_ACCESS = /\b(?:auth\w*|api|access|bearer|secret|credential|login|password)\b/i
