import { readdir } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { kill, readOfProcess } from './processes.ts'

/** A live process that carries a mark. */
export interface Orphan {
  pid: number
  parent: number
  /** Whether the mark is on the command line or in the initial environment. */
  carries: 'argument' | 'environment'
  command: string
}

/**
 * Finds the live processes with this word on their command line or in their environment, sorted by process
 * id; zombies are not included. The word must be unique, such as a UUID.
 */
export async function livingWith(mark: string): Promise<Orphan[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const found = await Promise.all(pids.map((pid) => inspectProcess(pid, mark)))
  return found.flatMap((orphan) => orphan ?? []).toSorted((a, b) => a.pid - b.pid)
}

/** Counts the live processes that carry each of these words, in one pass over all processes. */
export async function countLiving(marks: readonly string[]): Promise<Map<string, number>> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const texts = await Promise.all(
    pids.map(async (pid) => `${await readOfProcess(pid, 'cmdline')}\0${await readOfProcess(pid, 'environ')}`),
  )
  return new Map(marks.map((mark) => [mark, texts.filter((text) => text.includes(mark)).length]))
}

/** Waits until they have ended, at most `ms` milliseconds, and returns those that are left. */
export async function leftAfter(mark: string, ms: number): Promise<Orphan[]> {
  const deadline = performance.now() + ms
  let left = await livingWith(mark)
  while (left.length > 0 && performance.now() < deadline) {
    await sleep(20)
    left = await livingWith(mark)
  }
  return left
}

/** Kills all of them, including those they start meanwhile; returns the killed processes. */
export async function endLiving(mark: string): Promise<Orphan[]> {
  const ended: Orphan[] = []
  for (let left = await livingWith(mark); left.length > 0; left = await leftAfter(mark, 20)) {
    for (const orphan of left) kill(orphan.pid)
    ended.push(...left.filter(({ pid }) => !ended.some((known) => known.pid === pid)))
  }
  return ended
}

async function inspectProcess(pid: string, mark: string): Promise<Orphan | undefined> {
  const [line, environment, stat] = await Promise.all(
    ['cmdline', 'environ', 'stat'].map((file) => readOfProcess(pid, file)),
  )
  const command = line!.replaceAll('\0', ' ').trim()
  if (!command.includes(mark) && !environment!.includes(mark)) return undefined
  return {
    pid: Number(pid),
    parent: Number(stat!.slice(stat!.lastIndexOf(')')).split(' ')[2]),
    carries: command.includes(mark) ? 'argument' : 'environment',
    command,
  }
}
