import { readdirSync, readFileSync } from 'node:fs'

/**
 * Returns the CPU time of all live threads of a process, in milliseconds. Linux only, like the other
 * functions here.
 */
export function readCpuMs(pid: number): number {
  return sumOver(pid, 'schedstat', (text) => Number(text.split(' ')[0]) / 1e6)
}

/** Returns the CPU time of the main thread of a process, in milliseconds. */
export function readMainThreadCpuMs(pid: number): number {
  return Number(readOr(`/proc/${pid}/task/${pid}/schedstat`).split(' ')[0]) / 1e6
}

/** Counts how often the threads of a process went to sleep and were woken again. */
export function countWakeUps(pid: number): number {
  return sumOver(pid, 'status', (text) => Number(/^voluntary_ctxt_switches:\s+(\d+)/m.exec(text)?.[1] ?? 0))
}

/** Returns the resident memory of a process in MB. */
export function readRssMb(pid: number): number {
  return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]) / 1e3
}

/** Counts the running processes whose command line contains these words. */
export function countRunning(words: string): number {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return pids.filter((pid) => readOr(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').includes(words)).length
}

function sumOver(pid: number, file: string, value: (text: string) => number): number {
  const tasks = readdirSync(`/proc/${pid}/task`)
  return tasks.reduce((sum, task) => sum + value(readOr(`/proc/${pid}/task/${task}/${file}`)), 0)
}

/** Reads a file, or returns an empty text when its thread or process has ended meanwhile. */
function readOr(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}
