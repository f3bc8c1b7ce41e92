import { readdirSync, readFileSync } from 'node:fs'

/** CPU time of all threads of a process that live, milliseconds. Linux only, as the rest here. */
export function cpuMsOf(pid: number): number {
  return sumOver(pid, 'schedstat', (text) => Number(text.split(' ')[0]) / 1e6)
}

/** How often its threads went to sleep and were woken again. */
export function wakeUpsOf(pid: number): number {
  return sumOver(pid, 'status', (text) => Number(/^voluntary_ctxt_switches:\s+(\d+)/m.exec(text)?.[1] ?? 0))
}

/** The memory a process holds now, MB. */
export function rssOf(pid: number): number {
  return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]) / 1e3
}

/** How many of the running processes have this on their command line. */
export function countRunning(words: string): number {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return pids.filter((pid) => readOr(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').includes(words)).length
}

function sumOver(pid: number, file: string, value: (text: string) => number): number {
  const tasks = readdirSync(`/proc/${pid}/task`)
  return tasks.reduce((sum, task) => sum + value(readOr(`/proc/${pid}/task/${task}/${file}`)), 0)
}

/** Threads and processes end while they are looked at. */
function readOr(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}
