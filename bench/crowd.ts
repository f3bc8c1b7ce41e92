import { quantile } from './statistics.ts'

/** The result of one program that read many concurrent streams. */
export interface CrowdResult {
  streams: number
  /** The time until the last of them had started, in milliseconds. */
  begunMs: number
  /**
   * The number of chunks that arrived while all streams were running; `p50` and `p99` are their latencies
   * from the model server, in milliseconds.
   */
  chunks: number
  p50: number
  p99: number
  /** The number of streams that did not end, or in which a chunk was lost, duplicated or out of order. */
  broken: number
  cpuMs: number
  rssMb: number
}

/** Returns the current time in milliseconds, comparable between processes of a machine. */
export function moment(): number {
  return performance.timeOrigin + performance.now()
}

/** Formats the nth chunk of the model server, stamped with the current time. */
export function stampedChunk(index: number): string {
  return `w${index}@${moment().toFixed(3)};`
}

/** One stream of a crowd. Its reader passes the text as it arrives. */
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

/** Reads `count` concurrent streams and returns their combined result. */
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
  const start = Math.max(...streams.map(({ arrivals }) => arrivals[0]?.at ?? Number.NaN))
  const over = Math.min(...streams.map(({ arrivals }) => arrivals.at(-1)?.at ?? Number.NaN))
  const took = streams.flatMap(({ arrivals }) =>
    arrivals.filter(({ at }) => at > start && at <= over).map(({ tookMs }) => tookMs),
  )
  const { user, system } = process.cpuUsage()
  return {
    streams: count,
    begunMs: start - begin,
    chunks: took.length,
    p50: quantile(took, 0.5),
    p99: quantile(took, 0.99),
    broken: streams.filter(({ isWhole }) => !isWhole).length,
    cpuMs: (user + system) / 1e3,
    rssMb: process.resourceUsage().maxRSS / 1e3,
  }
}
