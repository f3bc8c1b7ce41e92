import type { JsonObject } from '../../core/base/message.ts'
import type { Connection } from '../connection/connection.ts'
import { type FetchPage, readPages } from '../connection/pages.ts'
import { limitServerText, toPrintableLine } from '../tools/server-text.ts'
import type { ResourceList, ResourceTemplateView, ResourceView } from '../types.ts'

/**
 * Lists the resources and templates of a server in its order; empty for a server without any. Throws as
 * Connection does.
 */
export async function listResources(connection: Connection, signal: AbortSignal): Promise<ResourceList> {
  const read = (key: string) => (page: FetchPage) => readPages(page, key)
  const [resources, templates] = await Promise.all([
    connection.readPages('resources/list', read('resources'), signal),
    connection.readPages('resources/templates/list', read('resourceTemplates'), signal),
  ])
  return {
    resources: resources.items.flatMap(toResource),
    templates: templates.items.flatMap(toTemplate),
  }
}

function toResource(item: JsonObject): ResourceView[] {
  const { uri, size } = item
  if (!isAddress(uri)) return []
  const isSize = typeof size === 'number' && Number.isSafeInteger(size) && size >= 0
  return [{ uri, ...readTexts(item), size: isSize ? size : undefined }]
}

function toTemplate(item: JsonObject): ResourceTemplateView[] {
  const { uriTemplate } = item
  return isAddress(uriTemplate) ? [{ uriTemplate, ...readTexts(item) }] : []
}

/** Whether a value is a URI that can be shown and mentioned in a message unchanged; others cannot be read. */
export function isAddress(uri: unknown): uri is string {
  return (
    typeof uri === 'string' && uri !== '' && uri.length <= MAX_URI && !/[\s"<>\p{Cc}\p{Cf}\p{Cs}]/u.test(uri)
  )
}

function readTexts({ name, title, description, mimeType }: JsonObject) {
  const [first = '', ...rest] = [name, title, description].filter(
    (one) => typeof one === 'string' && one !== '',
  )
  const about = typeof description === 'string' && description !== '' ? description : (rest[0] ?? '')
  return {
    name: toPrintableLine(first as string),
    description: limitServerText(about as string),
    mimeType: typeof mimeType === 'string' ? toPrintableLine(mimeType) : '',
  }
}

const MAX_URI = 2_000
