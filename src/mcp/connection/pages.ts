import { isObject } from '../../core/base/json.ts'
import type { JsonObject } from '../../core/base/message.ts'

/** Fetches the page behind a cursor, or the first. */
export type FetchPage = (cursor: string | undefined) => Promise<unknown>

/** The items of one list, and whether it was truncated. */
export interface Pages {
  items: JsonObject[]
  isCut: boolean
}

/** Reads all pages of the list under `key`, at most 1,000 items of 50 pages; a repeated cursor ends it. */
export async function readPages(page: FetchPage, key: string): Promise<Pages> {
  const items: JsonObject[] = []
  const cursors = new Set<string>()
  let cursor: string | undefined
  do {
    const result = await page(cursor)
    const { [key]: list, nextCursor } = isObject(result) ? result : {}
    if (Array.isArray(list)) items.push(...list.filter(isObject).slice(0, MAX_ITEMS + 1))
    cursor = typeof nextCursor === 'string' && !cursors.has(nextCursor) ? nextCursor : undefined
    if (cursor !== undefined) cursors.add(cursor)
    if (items.length > MAX_ITEMS || cursors.size > MAX_PAGES)
      return { items: items.slice(0, MAX_ITEMS), isCut: true }
  } while (cursor !== undefined)
  return { items, isCut: false }
}

const MAX_ITEMS = 1_000
const MAX_PAGES = 50
