import { takeStart } from '../../base/truncate.ts'

/**
 * Returns file names without `.md` for entry names, in the same order. A name is used unchanged where every
 * file system allows it and a Markdown link to it needs no escaping but `%20`; otherwise a similar one is
 * used. The results are distinct even on systems that ignore case or Unicode normalization.
 */
export function fileStems(names: readonly string[]): string[] {
  const taken = new Set<string>()
  return names.map((name) => {
    const stem = uniqueStem(toStem(name), taken)
    taken.add(foldStem(stem))
    return stem
  })
}

/** Folds a file name; names that are equal afterwards are the same file on some systems. */
export function foldStem(stem: string): string {
  return stem.normalize('NFC').toUpperCase().toLowerCase()
}

const MAX_STEM_BYTES = 120

/** Windows device names, with any extension; and names that mdBook treats as an index. */
const RESERVED = /^(?:con|prn|aux|nul|com[\d¹²³]|lpt[\d¹²³]|readme|index)(?:\.|$)/i

function toStem(name: string): string {
  const plain = name.normalize('NFC').replace(/[^\p{L}\p{M}\p{N} ._+@,-]+/gu, '-')
  const short = shorten(plain).replace(/^[ .]+|[ .]+$/g, '')
  if (short === '') return 'entry'
  return RESERVED.test(short) ? `_${short}` : short
}

function shorten(text: string): string {
  let short = text
  while (Buffer.byteLength(short) > MAX_STEM_BYTES) {
    const excess = Math.ceil((Buffer.byteLength(short) - MAX_STEM_BYTES) / 3)
    short = takeStart(short, short.length - excess)
  }
  return short
}

function uniqueStem(stem: string, taken: ReadonlySet<string>): string {
  let name = stem
  for (let n = 2; taken.has(foldStem(name)); n++) name = `${stem}-${n}`
  return name
}
