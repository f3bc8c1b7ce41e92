import { spawnSync } from 'node:child_process'
import { dlopen } from 'node:ffi'
import { platform } from 'node:os'

// A program of its own, `measure.ts COMMAND ARGS…`: runs the command once and prints what it took as JSON. One run a
// process, because the operating system sums and maximises over all children that a process has had.
const RUSAGE_CHILDREN = -1
const [program = '', ...words] = process.argv.slice(2)
console.log(JSON.stringify(measure(program, words)))

/** What one whole run of a program took. */
export interface Sample {
  wallMs: number
  /** User and system time, of the program and of what it waited for. */
  cpuMs: number
  /** Peak resident memory of the largest process. */
  rssMb: number
  status: number | null
  stdout: string
  stderr: string
}

function measure(command: string, args: string[]): Sample {
  const start = performance.now()
  const { status, stdout, stderr, error } = spawnSync(command, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  const wallMs = performance.now() - start
  if (error) throw error
  return { wallMs, ...childrenUsage(), status, stdout: stdout.toString(), stderr: stderr.toString() }
}

/** getrusage(RUSAGE_CHILDREN): struct timeval ru_utime, ru_stime; long ru_maxrss (bytes on macOS, else KiB). */
function childrenUsage(): { cpuMs: number; rssMb: number } {
  const usage = Buffer.alloc(144)
  using library = dlopen(null, { getrusage: { arguments: ['int32', 'buffer'], return: 'int32' } })
  const failed = library.functions.getrusage(RUSAGE_CHILDREN, usage)
  if (failed !== 0) throw new Error('Cannot measure: getrusage failed')
  const milliseconds = (at: number) =>
    Number(usage.readBigInt64LE(at)) * 1e3 + usage.readInt32LE(at + 8) / 1e3
  const rss = Number(usage.readBigInt64LE(32))
  return { cpuMs: milliseconds(0) + milliseconds(16), rssMb: platform() === 'darwin' ? rss / 1e6 : rss / 1e3 }
}
