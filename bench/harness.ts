import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Sample } from './measure.ts'
import { readCpuMs } from './processes.ts'
import { median } from './statistics.ts'

/** A program to measure. */
export interface Program {
  name: string
  command: string
  args: readonly string[]
  env?: Readonly<Record<string, string>>
  /** A pattern that the end of standard output must match, so that no broken run is measured. */
  expects?: RegExp
  /** The maximum number of rounds, for slow programs. */
  rounds?: number
  /** Whether a failure of this program is recorded and the others go on; otherwise it ends the run. */
  mayFail?: boolean
  /** The pid of a daemon that works for the program; its CPU time is counted, too. */
  daemon?: number
}

/** The medians over the runs of one program. */
export interface Figures {
  wallMs: number
  cpuMs: number
  rssMb: number
  firstByteMs: number
  /** The CPU time of the daemon that works for the program. */
  daemonCpuMs: number
  /** The CPU time of both processes. */
  allCpuMs: number
  runs: number
}

/**
 * The number of rounds, and the working directory: an empty folder, because instruction files would be sent
 * along.
 */
export interface Runs {
  rounds: number
  cwd: string
  /** Receives the reasons why programs that may fail could not be measured, by name. */
  failures?: Map<string, string>
}

/** A timeout, in milliseconds, longer than any program here takes. */
const TIMEOUT_MS = 90_000

/**
 * Runs every program once per round, in turn, so that other load on the machine affects all alike. The first
 * two rounds only warm caches. Throws when a run fails, unless the program may fail: it is then skipped, and
 * its figures are NaN.
 */
export async function interleave(
  programs: readonly Program[],
  { rounds, cwd, failures = new Map() }: Runs,
): Promise<Map<string, Figures>> {
  const samples = new Map<string, FullSample[]>(programs.map(({ name }) => [name, []]))
  for (let round = -2; round < rounds; round++) {
    for (const program of programs) {
      if (round >= (program.rounds ?? rounds) || failures.has(program.name)) continue
      try {
        const sample = await runOnce(program, cwd)
        if (round >= 0) samples.get(program.name)!.push(sample)
      } catch (reason) {
        if (!program.mayFail) throw reason
        failures.set(program.name, toFailure(reason))
        samples.set(program.name, [])
      }
    }
  }
  return new Map([...samples].map(([name, all]) => [name, toFigures(all)]))
}

/** Returns the first line of a reason, short enough for a row of a table. */
export function toFailure(reason: unknown): string {
  const [line = ''] = (reason instanceof Error ? reason.message : String(reason)).split('\n')
  return line.slice(0, FAILURE_LENGTH)
}

const FAILURE_LENGTH = 100

type FullSample = Sample & { daemonCpuMs: number | undefined }

async function runOnce(program: Program, cwd: string): Promise<FullSample> {
  const { name, command, args, env, expects = /^/, daemon } = program
  const cpu = daemon === undefined ? 0 : readCpuMs(daemon)
  const measure = ['--disable-warning=ExperimentalWarning', join(import.meta.dirname, 'measure.ts')]
  const { stdout } = await promisify(execFile)(process.execPath, [...measure, command, ...args], {
    cwd,
    env: { PATH: process.env['PATH'], ...env },
    timeout: TIMEOUT_MS,
  })
  const sample: Sample = JSON.parse(stdout)
  if (sample.status !== 0 || !expects.test(sample.stdout)) {
    throw new Error(`Cannot measure ${name}: exit ${sample.status}, ${sample.stdout}${sample.stderr}`)
  }
  return { ...sample, daemonCpuMs: daemon === undefined ? undefined : readCpuMs(daemon) - cpu }
}

function toFigures(samples: readonly FullSample[]): Figures {
  const of = (pick: (sample: FullSample) => number | undefined) =>
    median(samples.map(pick).filter((value) => value !== undefined))
  return {
    wallMs: of(({ wallMs }) => wallMs),
    cpuMs: of(({ cpuMs }) => cpuMs),
    rssMb: of(({ rssMb }) => rssMb),
    firstByteMs: of(({ firstByteMs }) => firstByteMs),
    daemonCpuMs: of(({ daemonCpuMs }) => daemonCpuMs),
    allCpuMs: of(({ cpuMs, daemonCpuMs }) => cpuMs + (daemonCpuMs ?? 0)),
    runs: samples.length,
  }
}
