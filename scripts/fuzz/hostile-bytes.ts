import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Attack } from './attack.ts'

/** Returns integers from 0 to below `limit`; the same sequence for the same seed. */
export type Random = (limit: number) => number

/** Creates a Mulberry32 generator. */
export function generator(seed: number): Random {
  let state = seed >>> 0
  return (limit) => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit
  }
}

/** Generates a hostile client that sends random bytes, or damaged golden frames of clients. */
export function hostileBytes(random: Random): Attack {
  const bytes = random(3) === 0 ? randomBytes(random, random(2000)) : damagedFrames(random)
  return {
    bytes,
    cuts: Array.from({ length: random(4) }, () => random(bytes.length + 1)).toSorted((a, b) => a - b),
    goodbye: (['halfClose', 'hangUp', 'reset', 'readThenLeave'] as const)[random(4)]!,
    pings: random(3),
  }
}

function damagedFrames(random: Random): Uint8Array {
  const bytes = Array.from({ length: 1 + random(4) }, () => [...GOLDEN[random(GOLDEN.length)]!]).flat()
  for (let round = random(4); round > 0; round -= 1) {
    bytes.splice(random(bytes.length + 1), random(5), ...randomBytes(random, random(5)))
  }
  return Uint8Array.from(bytes)
}

function randomBytes(random: Random, length: number): Uint8Array {
  return Uint8Array.from({ length }, () => random(256))
}

const GOLDEN = readFileSync(
  join(import.meta.dirname, '../../test/core/protocol/fixtures/wire-vectors.txt'),
  'utf8',
)
  .split('\n')
  .filter((line) => line.startsWith('C '))
  .map((line) => Buffer.from(line.split(' | ')[1]!, 'hex'))
