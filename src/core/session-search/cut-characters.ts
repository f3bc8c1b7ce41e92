/**
 * Returns the last position at or before `at` that does not split a user-perceived character (grapheme
 * cluster).
 */
export function cutBefore(text: string, at: number): number {
  let cut = Math.min(at, text.length)
  for (let steps = 0; steps < MAX_STEPS && isInside(text, cut); steps++) cut--
  return isInsidePair(text, cut) ? cut - 1 : cut
}

/** Returns the first such position at or after `at`. */
export function cutAfter(text: string, at: number): number {
  let cut = Math.max(at, 0)
  for (let steps = 0; steps < MAX_STEPS && isInside(text, cut); steps++) cut++
  return isInsidePair(text, cut) ? cut + 1 : cut
}

/**
 * Whether a position is inside a surrogate pair, before a mark, joiner, variation selector or skin tone, or
 * after a joiner.
 */
function isInside(text: string, at: number): boolean {
  if (at <= 0 || at >= text.length) return false
  const next = text.charCodeAt(at)
  if (next < 0x300 && text.charCodeAt(at - 1) !== ZERO_WIDTH_JOINER) return false
  return (
    isInsidePair(text, at) ||
    text.charCodeAt(at - 1) === ZERO_WIDTH_JOINER ||
    /^[\p{M}\p{Emoji_Modifier}\u200d]/u.test(text.slice(at, at + 2))
  )
}

function isInsidePair(text: string, at: number): boolean {
  return (
    at > 0 &&
    isBetween(text.charCodeAt(at), 0xdc00, 0xdfff) &&
    isBetween(text.charCodeAt(at - 1), 0xd800, 0xdbff)
  )
}

function isBetween(unit: number, first: number, last: number): boolean {
  return unit >= first && unit <= last
}

const ZERO_WIDTH_JOINER = 0x200d
/** Limits the search, because a letter may carry a thousand accents. */
const MAX_STEPS = 32
