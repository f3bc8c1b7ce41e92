import { quantile } from './statistics.ts'

/** What came of many streams that one program has read at once. */
export interface CrowdResult {
  streams: number
  /** Until the last of them had begun. */
  begunMs: number
  /** Chunks that came while all of them ran, and how long one took from the model server, milliseconds. */
  chunks: number
  p50: number
  p99: number
  /** Streams in which a chunk was lost, doubled or out of its order, or that did not end. */
  broken: number
  cpuMs: number
  rssMb: number
}

/** A moment, comparable between the processes of a machine, milliseconds. */
export function moment(): number {
  return performance.timeOrigin + performance.now()
}

/** How the model server writes its nth chunk, sent now. */
export function stampedChunk(index: number): string {
  return `w${index}@${moment().toFixed(3)};`
}

/** One stream of a crowd: is given its text as it comes. */
export class CrowdStream {
  readonly #expected: number
  readonly arrivals: { at: number; tookMs: number }[] = []
  #next = 0
  #isOrdered = true
  #rest = ''

  constructor(expected: number) {
    this.#expected = expected
  }

  take(text: string): void {
    const now = moment()
    const whole = this.#rest + text
    let end = 0
    for (const match of whole.matchAll(CHUNK)) {
      this.#isOrdered &&= Number(match[1]) === this.#next++
      this.arrivals.push({ at: now, tookMs: now - Number(match[2]) })
      end = match.index + match[0].length
    }
    this.#rest = whole.slice(end)
  }

  get isWhole(): boolean {
    return this.#isOrdered && this.#next === this.#expected
  }
}

const CHUNK = /w(\d+)@([\d.]+);/g

/** Reads that many streams at once, and gives what came of them. */
export async function readCrowd(
  { count, chunks }: { count: number; chunks: number },
  read: (stream: CrowdStream, index: number) => Promise<void>,
): Promise<CrowdResult> {
  const begin = moment()
  const streams = Array.from({ length: count }, () => new CrowdStream(chunks))
  const failures = new Map<string, number>()
  await Promise.all(
    streams.map((stream, index) =>
      read(stream, index).catch((reason: unknown) => {
        failures.set(String(reason), (failures.get(String(reason)) ?? 0) + 1)
      }),
    ),
  )
  for (const [reason, times] of failures) console.error(`${times} ×: ${reason}`)
  const begun = Math.max(...streams.map(({ arrivals }) => arrivals[0]?.at ?? Number.NaN))
  const over = Math.min(...streams.map(({ arrivals }) => arrivals.at(-1)?.at ?? Number.NaN))
  const took = streams.flatMap(({ arrivals }) =>
    arrivals.filter(({ at }) => at > begun && at <= over).map(({ tookMs }) => tookMs),
  )
  const { user, system } = process.cpuUsage()
  return {
    streams: count,
    begunMs: begun - begin,
    chunks: took.length,
    p50: quantile(took, 0.5),
    p99: quantile(took, 0.99),
    broken: streams.filter(({ isWhole }) => !isWhole).length,
    cpuMs: (user + system) / 1e3,
    rssMb: process.resourceUsage().maxRSS / 1e3,
  }
}
