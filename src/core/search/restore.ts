import { CrabError } from '../base/errors.ts'
import { hasBit } from './bits.ts'
import type { CheckpointPart, NumberArray } from './checkpoint/types.ts'
import type { Dictionary } from './dictionary.ts'
import { countDocuments, type SealedSegment, toSealedSegment, uncount } from './live-segment.ts'
import { DOCUMENT_KIND_COUNT, type IndexParts, MAX_SEGMENT_DOCUMENTS, type Segment } from './parts.ts'

/** Encodes the removed documents of segments, in segment order, one bit per document. */
export function encodeDead(dead: readonly Uint8Array[]): CheckpointPart {
  const all = new Uint8Array(new SharedArrayBuffer(dead.reduce((sum, bits) => sum + bits.length, 0)))
  let at = 0
  for (const bits of dead) {
    all.set(bits, at)
    at += bits.length
  }
  return { facts: { segments: dead.length }, arrays: { dead: all } }
}

/**
 * Validates saved segments and adds their live documents to the frequencies of the dictionary. Throws
 * `invalid`.
 */
export function restoreSegments(
  segments: readonly CheckpointPart[],
  state: IndexParts['state'],
  dictionary: Dictionary,
): SealedSegment[] {
  const dead = state.arrays['dead']
  if (!(dead instanceof Uint8Array)) throw broken('it does not say which documents are gone')
  let at = 0
  const sealed = segments.map((part) => {
    const segment = toSegment(part, dictionary.size)
    const live = toSealedSegment(segment)
    const end = at + live.dead.length
    if (end > dead.length) throw broken('it does not say which documents are gone')
    live.dead.set(dead.subarray(at, end))
    at = end
    countIn(live, dictionary.frequencies)
    return live
  })
  if (at !== dead.length) throw broken('segments are missing')
  return sealed
}

function countIn(live: SealedSegment, frequencies: Uint32Array): void {
  const { terms, starts } = live.segment.arrays
  for (let list = 0; list < terms.length; list++)
    frequencies[terms[list]!]! += starts[list + 1]! - starts[list]!
  const gone: number[] = []
  for (let doc = 0; doc < countDocuments(live); doc++) if (hasBit(live.dead, doc)) gone.push(doc)
  live.deadCount = gone.length
  if (gone.length > 0) uncount(live, gone, frequencies)
}

function toSegment(part: CheckpointPart, dictionarySize: number): Segment {
  if (!isSegment(part)) throw broken('the arrays of a segment do not fit each other')
  const { terms, starts, docs, kinds } = part.arrays
  const { documents } = part.facts
  const isSound =
    isAscending(terms, 1) &&
    isAscending(starts, 0) &&
    (terms.at(-1) ?? -1) < dictionarySize &&
    areBelow(kinds, DOCUMENT_KIND_COUNT) &&
    (documents === MAX_SEGMENT_DOCUMENTS || areBelow(docs, documents))
  if (!isSound) throw broken('a segment names what is not there')
  return part
}

function isSegment(part: CheckpointPart): part is Segment {
  const { documents, averageLength } = part.facts
  const { arrays } = part as Segment
  if (!(Number.isInteger(documents) && documents! > 0 && documents! <= MAX_SEGMENT_DOCUMENTS)) return false
  if (!(averageLength! > 0)) return false
  const perDocument = [
    [arrays.lengths, Uint16Array],
    [arrays.kinds, Uint8Array],
    [arrays.groups, Uint32Array],
    [arrays.seqs, Uint32Array],
    [arrays.offsets, Uint32Array],
    [arrays.times, Float64Array],
  ] as const
  if (!perDocument.every(([array, Type]) => array instanceof Type && array.length === documents)) return false
  return areLists(arrays) && areMaxima(arrays)
}

function areLists({ terms, starts, docs, counts }: Segment['arrays']): boolean {
  if (!(terms instanceof Uint32Array && starts instanceof Uint32Array)) return false
  if (!(docs instanceof Uint16Array && counts instanceof Uint8Array)) return false
  if (starts.length !== terms.length + 1 || starts[0] !== 0) return false
  return starts.at(-1) === docs.length && counts.length === docs.length
}

function areMaxima({ weights, long, maximaStarts, maxima, terms }: Segment['arrays']): boolean {
  if (!(weights instanceof Float64Array && weights.length === DOCUMENT_KIND_COUNT)) return false
  if (!(long instanceof Uint32Array && maximaStarts instanceof Uint32Array)) return false
  if (!(maxima instanceof Float32Array && maximaStarts.length === long.length + 1)) return false
  if (maximaStarts[0] !== 0 || maximaStarts.at(-1) !== maxima.length || !isAscending(maximaStarts, 1))
    return false
  return isAscending(long, 1) && (long.at(-1) ?? -1) < terms.length
}

function areBelow(numbers: NumberArray, limit: number): boolean {
  for (let i = 0; i < numbers.length; i++) if (numbers[i]! >= limit) return false
  return true
}

function isAscending(numbers: NumberArray, step: number): boolean {
  for (let i = 1; i < numbers.length; i++) if (numbers[i]! < numbers[i - 1]! + step) return false
  return true
}

function broken(why: string): CrabError {
  return new CrabError('invalid', `Cannot read a saved index: ${why}`)
}
