import { spawn } from 'node:child_process'
import { dlopen } from 'node:ffi'
import { platform } from 'node:os'

// A standalone program, `measure.ts COMMAND ARGS…`: runs the command once and prints its resource usage as
// JSON. Each run needs a process of its own, because getrusage sums and maximises over all children of a
// process.
const RUSAGE_CHILDREN = -1
const [program = '', ...words] = process.argv.slice(2)
console.log(JSON.stringify(await measure(program, words)))

/** The resource usage of one complete run of a program. */
export interface Sample {
  wallMs: number
  /** User and system time of the program and of the children it waited for. */
  cpuMs: number
  /** Peak resident memory of the largest process. */
  rssMb: number
  /** The time from the start to the first bytes on standard output; missing without output. */
  firstByteMs?: number
  status: number | null
  /** Truncated to its last 4,000 bytes, like `stderr`. */
  stdout: string
  stderr: string
}

async function measure(command: string, args: string[]): Promise<Sample> {
  const start = performance.now()
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  let firstByteMs: number | undefined
  const [stdout, stderr]: [Buffer[], Buffer[]] = [[], []]
  child.stdout.on('data', (bytes: Buffer) => {
    firstByteMs ??= performance.now() - start
    stdout.push(bytes)
  })
  child.stderr.on('data', (bytes: Buffer) => stderr.push(bytes))
  const status = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject).on('close', resolve)
  })
  const wallMs = performance.now() - start
  const took = { wallMs, ...childrenUsage(), ...(firstByteMs && { firstByteMs }) }
  return { ...took, status, stdout: toEnd(stdout), stderr: toEnd(stderr) }
}

function toEnd(pieces: readonly Buffer[]): string {
  return Buffer.concat(pieces).subarray(-4000).toString()
}

/**
 * Calls getrusage(RUSAGE_CHILDREN): struct timeval ru_utime, ru_stime; long ru_maxrss (bytes on macOS,
 * otherwise KiB).
 */
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
