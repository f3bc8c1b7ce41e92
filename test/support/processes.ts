import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { until } from './until.ts'

/** `NAME=value`, or several of them. */
type Mark = string | readonly string[]

/** Lists the pids of the running processes whose initial environment contains this text, or one of these. */
export async function processesLeft(mark: Mark): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const marked = await Promise.all(pids.map(async (pid) => ((await hasMark(pid, mark)) ? [Number(pid)] : [])))
  return marked.flat()
}

/**
 * The time that a program's processes may outlive it: a process that does not end when asked is killed two
 * seconds later, or later on a busy machine.
 */
export const GRACE_MS = 20_000

/**
 * Kills those processes that have not ended by themselves in time, waits until they are gone, and returns
 * their command lines.
 */
export async function endProcesses(mark: Mark, graceMs = GRACE_MS): Promise<string[]> {
  const deadline = performance.now() + graceMs
  let left = await processesLeft(mark)
  while (left.length > 0 && performance.now() < deadline) {
    await sleep(20)
    left = await processesLeft(mark)
  }
  const lines = await Promise.all(left.map(commandLine))
  for (const pid of left) kill(pid)
  await until('killed processes are gone', async () => (await processesLeft(mark)).length === 0)
  return lines
}

async function hasMark(pid: string, mark: Mark): Promise<boolean> {
  const environment = await readOfProcess(pid, 'environ') // empty for a zombie
  const lines = environment.split('\0')
  return [mark].flat().some((line) => lines.includes(line))
}

async function commandLine(pid: number): Promise<string> {
  return (await readOfProcess(String(pid), 'cmdline')).replaceAll('\0', ' ').trim()
}

/** Reads a file of a process below /proc; empty when the process has ended. */
export async function readOfProcess(pid: string, file: string): Promise<string> {
  try {
    return await readFile(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return ''
  }
}

/** Kills a process if it is still running. */
export function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // it has ended by itself
  }
}
