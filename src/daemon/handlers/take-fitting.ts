/**
 * Returns the first items of a page that fit into a frame of 16 MB with room to spare, but at least one; the
 * client requests the rest from there. `measure` returns the bytes or characters of an item.
 */
export function takeFitting<T>(all: readonly T[], measure: (one: T) => number, most = REPLY_SIZE): T[] {
  let size = 0
  const end = all.findIndex((one, index) => {
    size += measure(one)
    return index > 0 && size > most
  })
  return end < 0 ? [...all] : all.slice(0, end)
}

/** The default limit in characters, each of which may take three bytes. */
const REPLY_SIZE = 4 * 1024 * 1024
