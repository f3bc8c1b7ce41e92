/** The meaning of a key in the pager. */
export type PagerKey =
  | { do: 'move'; lines: number }
  | { do: 'page'; part: number }
  | { do: 'home' | 'end' | 'close' | 'edit' | 'redraw' }
  | { do: 'search' }
  | { do: 'again'; by: 1 | -1 }
  | { do: 'block'; by: 1 | -1 }

/** Splits terminal input into keys; control sequences stay whole. */
export function splitKeys(input: string): string[] {
  return input.match(KEYS) ?? []
}

/** Returns the meaning of a key other than Esc while no search is being typed; undefined for keys without one. */
export function readPagerKey(key: string): PagerKey | undefined {
  return MEANINGS.get(key)
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: keys are control sequences
const KEYS = /\u001b\[[\d;:]*[ -/]*[@-~]|\u001bO[@-~]|\u001b[^[\u001b]|[\s\S]/gu

const line = (lines: number): PagerKey => ({ do: 'move', lines })
const page = (part: number): PagerKey => ({ do: 'page', part })

const MEANINGS: ReadonlyMap<string, PagerKey> = new Map<string, PagerKey>([
  ...['\u001b[A', '\u001bOA', 'k', 'y'].map((key) => [key, line(-1)] as const),
  ...['\u001b[B', '\u001bOB', 'j', 'e', '\r', '\n'].map((key) => [key, line(1)] as const),
  ...['\u001b[5~', 'b', '\u0002'].map((key) => [key, page(-1)] as const),
  ...['\u001b[6~', ' ', 'f', '\u0006'].map((key) => [key, page(1)] as const),
  ...['u', '\u0015'].map((key) => [key, page(-0.5)] as const),
  ...['d', '\u0004'].map((key) => [key, page(0.5)] as const),
  ...['\u001b[H', '\u001bOH', '\u001b[1~', 'g', '<'].map((key) => [key, { do: 'home' }] as const),
  ...['\u001b[F', '\u001bOF', '\u001b[4~', 'G', '>'].map((key) => [key, { do: 'end' }] as const),
  ...['q', 'Q', '\u0003', '\u000f'].map((key) => [key, { do: 'close' }] as const),
  ['/', { do: 'search' }],
  ['n', { do: 'again', by: 1 }],
  ['N', { do: 'again', by: -1 }],
  ['p', { do: 'block', by: -1 }],
  ['v', { do: 'edit' }],
  ['\u000c', { do: 'redraw' }],
])
