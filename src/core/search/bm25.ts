import { B, K1 } from './types.ts'

/** Returns ln((N - df + 0.5) / (df + 0.5) + 1), the form Lucene uses: never negative. */
export function inverseFrequency(documents: number, frequency: number): number {
  return Math.log((documents - frequency + 0.5) / (frequency + 0.5) + 1)
}

/**
 * Returns what a term that occurs `count` times adds to a document's score; `factor` is inverseFrequency ×
 * (K1 + 1).
 */
export function termScore(factor: number, count: number, length: number, averageLength: number): number {
  return (factor * count) / (count + K1 * (1 - B + (B * length) / averageLength))
}
