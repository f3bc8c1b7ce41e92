/**
 * The first of a page that fit a frame of 16 MB with room to spare, one at least: who asked for more goes on behind them.
 * `measure` gives bytes or characters of one.
 */
export function takeFitting<T>(all: readonly T[], measure: (one: T) => number, most = REPLY_SIZE): T[] {
  let size = 0
  const end = all.findIndex((one, index) => {
    size += measure(one)
    return index > 0 && size > most
  })
  return end < 0 ? [...all] : all.slice(0, end)
}

/** A character may take three bytes. */
const REPLY_SIZE = 4 * 1024 * 1024
