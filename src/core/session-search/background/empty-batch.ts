import type { ReadBatch, ReadFile } from './types.ts'

/** Returns a batch that contains only ends of files. */
export function filesOnly(files: readonly ReadFile[]): ReadBatch {
  return {
    isFirst: false,
    keys: new Uint8Array(),
    keyLengths: new Uint8Array(),
    keyHashes: new Uint32Array(),
    groups: new Uint32Array(),
    kinds: new Uint8Array(),
    seqs: new Uint32Array(),
    offsets: new Uint32Array(),
    times: new Float64Array(),
    counts: new Uint32Array(),
    terms: new Uint32Array(),
    files,
  }
}
