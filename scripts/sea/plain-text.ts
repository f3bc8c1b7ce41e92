/**
 * The ranges of text in which every code unit is one character of one column, regardless of its neighbors.
 * Most terminal output is such text; it needs neither Intl.Segmenter nor the emoji tables, which take 45 ms
 * to build.
 */
const PLAIN: readonly (readonly [first: number, last: number])[] = [
  [0x20, 0x7e],
  [0xa1, 0xac], // next is the soft hyphen
  [0xae, 0x2ff],
  [0x370, 0x377], // Greek and Cyrillic, without unassigned and combining characters
  [0x384, 0x38a],
  [0x38e, 0x3a1],
  [0x3a3, 0x482],
  [0x48a, 0x52f],
  [0x2010, 0x2027],
  [0x2030, 0x205e],
  [0x20a0, 0x20c0],
  [0x2190, 0x2319], // arrows and mathematical symbols, up to the watch
  [0x2500, 0x25fc], // boxes and shapes
  [0x2713, 0x2713],
  [0x2717, 0x2717],
  [0x276f, 0x276f],
  [0x2800, 0x28ff], // Braille, used by spinners
]

/** A lookup table by code unit. */
const isPlain = new Uint8Array(0x2900)
for (const [first, last] of PLAIN) isPlain.fill(1, first, last + 1)

/** The escape sequences for colors and text styles. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they begin with one
const STYLES = /\x1b\[[\d;:]*m/g

/** Returns the result of string-width for plain text with colors; undefined for other text. */
export function plainWidth(text: unknown, options: WidthOptions = {}): number | undefined {
  if (typeof text !== 'string' || options.ambiguousIsNarrow === false) return undefined
  const visible = options.countAnsiEscapeCodes || !text.includes('\x1b') ? text : text.replaceAll(STYLES, '')
  for (let at = 0; at < visible.length; at++) if (isPlain[visible.charCodeAt(at)] !== 1) return undefined
  return visible.length
}

interface WidthOptions {
  ambiguousIsNarrow?: boolean
  countAnsiEscapeCodes?: boolean
}

/**
 * Creates a segmenter that builds the Intl.Segmenter at the first text that is not plain. Its segments can be
 * iterated, and found by index.
 */
export function lazySegmenter(make: () => Intl.Segmenter): { segment(text: string): Segments } {
  let real: Intl.Segmenter | undefined
  return {
    segment(text) {
      if (isSimple(text)) {
        const segments: Segment[] = Array.from(text, (segment, index) => ({ segment, index, input: text }))
        return Object.assign(segments, { containing: (index = 0) => segments[index] })
      }
      real ??= make()
      return real.segment(text)
    },
  }
}

type Segments = Iterable<Segment> & { containing(index?: number): Segment | undefined }
type Segment = Pick<Intl.SegmentData, 'segment' | 'index' | 'input'>

/**
 * Whether each code unit is a segment. ESC and line feed are too, unlike a carriage return before a line
 * feed.
 */
function isSimple(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (isPlain[unit] !== 1 && unit !== 0x1b && unit !== 0x0a) return false
  }
  return true
}
