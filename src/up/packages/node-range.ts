/**
 * Whether a version of Node satisfies an npm range, as in `engines` of package.json; undefined when the range
 * or the version cannot be parsed. Everything after a `-` is ignored in both: a prerelease counts as its
 * version.
 */
export function isInRange(version: string, range: string): boolean | undefined {
  const numbers = parsePartial(version)
  if (numbers?.length !== 3) return undefined
  const sets = range.split('||').map((set) => parseSet(set.trim()))
  if (sets.some((set) => set === undefined)) return undefined
  return sets.some((set) => set!.every(({ from, below }) => isWithin(numbers, from, below)))
}

/** The versions from `from` (inclusive) to `below` (exclusive). */
interface Span {
  from: Numbers
  /** Undefined when unbounded. */
  below: Numbers | undefined
}

type Numbers = readonly number[]

function isWithin(version: Numbers, from: Numbers, below: Numbers | undefined): boolean {
  return compare(version, from) >= 0 && (below === undefined || compare(version, below) < 0)
}

/** Parses a set of comparators; a version must be within all of the returned spans. */
function parseSet(text: string): Span[] | undefined {
  const [, first, last] = /^(\S+)\s+-\s+(\S+)$/.exec(text) ?? []
  const words =
    first === undefined ? text.replaceAll(/([<>=~^])\s+/g, '$1').split(/\s+/) : [`>=${first}`, `<=${last}`]
  const spans = words.filter((word) => word !== '').map(toSpan)
  return spans.some((span) => span === undefined) ? undefined : (spans as Span[])
}

function toSpan(word: string): Span | undefined {
  const [, operator = '', text = ''] = /^(\^|~>?|[<>]?=?)(.*)$/.exec(word) ?? []
  const version = parsePartial(text)
  if (!version) return undefined
  const [from, next] = [pad(version), nextVersion(version, version.length)]
  switch (operator) {
    case '>=':
      return { from, below: undefined }
    case '>':
      return next ? { from: next, below: undefined } : NOTHING
    case '<':
      return version.length === 0 ? NOTHING : { from: ZERO, below: from }
    case '<=':
      return { from: ZERO, below: next }
    case '^':
      return {
        from,
        below: nextVersion(version, version.findIndex((part) => part > 0) + 1 || version.length),
      }
    case '~':
    case '~>':
      return { from, below: nextVersion(version, Math.min(2, version.length)) }
    default:
      return { from, below: next }
  }
}

/**
 * Parses a full or partial version such as `v18`, `18.x` or `18.1.2-rc.1` into its numbers, none for `*`;
 * undefined for anything else.
 */
function parsePartial(text: string): Numbers | undefined {
  const [, plain] = /^v?((?:\d+|[xX*])(?:\.(?:\d+|[xX*])){0,2})?(?:[-+][\w.+-]+)?$/.exec(text) ?? []
  if (plain === undefined) return text === '' ? [] : undefined
  const parts = plain.split('.')
  const end = parts.findIndex((part) => !/^\d/.test(part))
  return parts.slice(0, end < 0 ? undefined : end).map(Number)
}

/**
 * Returns the first version above all those that share the first `count` numbers; undefined when `count` is
 * 0.
 */
function nextVersion(version: Numbers, count: number): Numbers | undefined {
  if (count === 0) return undefined
  return pad([...version.slice(0, count - 1), version[count - 1]! + 1])
}

function pad(version: Numbers): Numbers {
  return [...version, ...ZERO].slice(0, 3)
}

function compare(a: Numbers, b: Numbers): number {
  return a[0]! - b[0]! || a[1]! - b[1]! || a[2]! - b[2]!
}

const ZERO: Numbers = [0, 0, 0]
const NOTHING: Span = { from: ZERO, below: ZERO }
