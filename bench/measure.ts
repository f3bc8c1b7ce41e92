import { spawn } from 'node:child_process'
import { dlopen } from 'node:ffi'
import { platform } from 'node:os'

// A program of its own, `measure.ts COMMAND ARGS…`: runs the command once and prints what it took as JSON. One run a
// process, because the operating system sums and maximises over all children that a process has had.
const RUSAGE_CHILDREN = -1
const [program = '', ...words] = process.argv.slice(2)
console.log(JSON.stringify(await measure(program, words)))

/** What one whole run of a program took. */
export interface Sample {
  wallMs: number
  /** User and system time, of the program and of what it waited for. */
  cpuMs: number
  /** Peak resident memory of the largest process. */
  rssMb: number
  /** From the start to the first bytes on standard output; missing when there were none. */
  firstByteMs?: number
  status: number | null
  /** The end of it, when it is long. */
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
  return { ...took, status, stdout: endOf(stdout), stderr: endOf(stderr) }
}

function endOf(pieces: readonly Buffer[]): string {
  return Buffer.concat(pieces).subarray(-4000).toString()
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
