import { takeStart } from '../../base/truncate.ts'

/**
 * File names for entries, without `.md`, in the order of their names: the name itself where every file system can have it
 * and a link in Markdown needs no more than `%20`, else something like it. No two are one where upper and lower case, or
 * composed and decomposed letters, are the same.
 */
export function fileStems(names: readonly string[]): string[] {
  const taken = new Set<string>()
  return names.map((name) => {
    const stem = free(toStem(name), taken)
    taken.add(foldStem(stem))
    return stem
  })
}

/** File names that are equal after this are one file on some systems. */
export function foldStem(stem: string): string {
  return stem.normalize('NFC').toUpperCase().toLowerCase()
}

const MAX_STEM_BYTES = 120

/** Devices of Windows, with whatever extension; mdbook makes a README its index. */
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

function free(stem: string, taken: ReadonlySet<string>): string {
  let name = stem
  for (let n = 2; taken.has(foldStem(name)); n++) name = `${stem}-${n}`
  return name
}
