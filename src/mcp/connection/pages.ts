import { isObject } from '../../core/base/json.ts'
import type { JsonObject } from '../../core/base/message.ts'
import { readTools, type ToolList } from '../tools/remote-tool.ts'

/** Fetches the page behind a cursor, or the first. */
export type FetchPage = (cursor: string | undefined) => Promise<unknown>

/** The items of one list, and whether it was truncated. */
export interface Pages<Item = JsonObject> {
  items: Item[]
  isCut: boolean
}

/** Reads all pages of the list under `key`, at most 1,000 items of 50 pages; a repeated cursor ends it. */
export async function readPages(page: FetchPage, key: string): Promise<Pages> {
  return await collectPages(page, { key, isItem: isObject, maxItems: 1_000, maxPages: 50 })
}

/**
 * Reads all pages of a server's tools, at most 2,000 tools of 200 pages: more than any real server has, and a
 * model could not choose among them. A repeated cursor ends the list. An endless list is truncated, which is
 * reported like a dropped tool.
 */
export async function listTools(page: FetchPage): Promise<ToolList> {
  const isItem = (_item: unknown): _item is unknown => true // readTools() reports those that are not objects
  const { items, isCut } = await collectPages(page, { key: 'tools', isItem, maxItems: 2_000, maxPages: 200 })
  const { tools, dropped } = readTools(items)
  return { tools, dropped: isCut ? [...dropped, CUT] : dropped }
}

const CUT = { name: 'further tools', why: 'their list does not end' }

interface ListLimits<Item> {
  key: string
  isItem(item: unknown): item is Item
  maxItems: number
  maxPages: number
}

async function collectPages<Item>(
  page: FetchPage,
  { key, isItem, maxItems, maxPages }: ListLimits<Item>,
): Promise<Pages<Item>> {
  const items: Item[] = []
  const cursors = new Set<string>()
  let cursor: string | undefined
  do {
    const result = await page(cursor)
    const { [key]: list, nextCursor } = isObject(result) ? result : {}
    if (Array.isArray(list)) items.push(...list.filter(isItem).slice(0, maxItems + 1))
    cursor = typeof nextCursor === 'string' && !cursors.has(nextCursor) ? nextCursor : undefined
    if (cursor !== undefined) cursors.add(cursor)
    if (items.length > maxItems || cursors.size > maxPages)
      return { items: items.slice(0, maxItems), isCut: true }
  } while (cursor !== undefined)
  return { items, isCut: false }
}
