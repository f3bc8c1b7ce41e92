/**
 * Returns where a term ends without its plural suffix. A plural is a term of at least 4 ASCII letters that
 * ends in `-s`, but not in `-ss`, `-us` or `-is`. The `e` of `-sses`, `-xes`, `-ches`, `-shes` and `-zzes` is
 * dropped too, and so is that of `cache`: plural and singular only have to become the same term, not a word.
 */
export function singularEnd(bytes: Uint8Array, start: number, end: number): number {
  const isPlural = end - start >= MIN_PLURAL && bytes[end - 1] === S && isLetters(bytes, end - 4, end - 1)
  const before = bytes[end - 2]!
  const stem = isPlural && before !== S && before !== U && before !== I ? end - 1 : end
  return stem - start >= MIN_STEM && bytes[stem - 1] === E && hasHiss(bytes, stem - 1) ? stem - 1 : stem
}

/** Whether a term ends in `-ie`, which becomes `-y`: `queries` and `query`, `cookies` and `cookie`. */
export function endsInIe(bytes: Uint8Array, start: number, end: number): boolean {
  return (
    end - start >= MIN_STEM && bytes[end - 1] === E && bytes[end - 2] === I && isLetters(bytes, end - 4, end)
  )
}

/** Whether `ss`, `x`, `ch`, `sh` or `zz` precedes `at`. */
function hasHiss(bytes: Uint8Array, at: number): boolean {
  const [before, last] = [bytes[at - 2]!, bytes[at - 1]!]
  if (!isLetters(bytes, at - 3, at)) return false
  if (last === H) return before === C || before === S
  return last === X || ((last === S || last === Z) && before === last)
}

function isLetters(bytes: Uint8Array, from: number, to: number): boolean {
  for (let i = from; i < to; i++) if (bytes[i]! < 0x61 || bytes[i]! > 0x7a) return false
  return true
}

const MIN_PLURAL = 4
const MIN_STEM = 4
const C = 0x63
const E = 0x65
const H = 0x68
const I = 0x69
const S = 0x73
const U = 0x75
const X = 0x78
const Z = 0x7a
