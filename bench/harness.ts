import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Sample } from './measure.ts'

/** One program to be measured. */
export interface Row {
  name: string
  command: string
  args: readonly string[]
  env?: Readonly<Record<string, string>>
  /** What standard output must hold, so that nothing broken is measured. */
  expects?: RegExp
}

/** Medians over the runs of one row. */
export interface Figures {
  wallMs: number
  cpuMs: number
  rssMb: number
  runs: number
}

/**
 * Runs every row once a round, in turn, so that whatever else the machine does hits all alike.
 *
 * `cwd` should be an empty folder: instruction files would be sent along. The first two rounds only fill caches. Throws
 * when a run fails.
 */
export async function interleave(
  rows: readonly Row[],
  { rounds, cwd }: { rounds: number; cwd: string },
): Promise<Map<string, Figures>> {
  const samples = new Map<string, Sample[]>(rows.map(({ name }) => [name, []]))
  for (let round = -2; round < rounds; round++) {
    for (const row of rows) {
      const sample = await runOnce(row, cwd)
      if (round >= 0) samples.get(row.name)!.push(sample)
    }
  }
  return new Map([...samples].map(([name, all]) => [name, toFigures(all)]))
}

async function runOnce({ name, command, args, env, expects = /^/ }: Row, cwd: string): Promise<Sample> {
  const measure = ['--disable-warning=ExperimentalWarning', join(import.meta.dirname, 'measure.ts')]
  const { stdout } = await promisify(execFile)(process.execPath, [...measure, command, ...args], {
    cwd,
    env: { PATH: process.env['PATH'], ...env },
  })
  const sample: Sample = JSON.parse(stdout)
  if (sample.status !== 0 || !expects.test(sample.stdout)) {
    throw new Error(`Cannot measure ${name}: exit ${sample.status}, ${sample.stdout}${sample.stderr}`)
  }
  return sample
}

function toFigures(samples: readonly Sample[]): Figures {
  return {
    wallMs: median(samples.map(({ wallMs }) => wallMs)),
    cpuMs: median(samples.map(({ cpuMs }) => cpuMs)),
    rssMb: median(samples.map(({ rssMb }) => rssMb)),
    runs: samples.length,
  }
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length / 2
  return (sorted[Math.floor(middle)]! + sorted[Math.ceil(middle) - 1]!) / 2
}
