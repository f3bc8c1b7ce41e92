import { readdir } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { kill, readOfProcess } from './processes.ts'

/** A process that lives and carries a mark. */
export interface Orphan {
  pid: number
  parent: number
  /** Where the mark is: on its command line, or in the environment it was started with. */
  carries: 'argument' | 'environment'
  command: string
}

/**
 * The living processes with this word on their command line or in their environment, by pid. One that has ended and
 * waits for its parent is none of them. The word must be nobody else's: a UUID, say.
 */
export async function livingWith(mark: string): Promise<Orphan[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const found = await Promise.all(pids.map((pid) => look(pid, mark)))
  return found.flatMap((orphan) => orphan ?? []).toSorted((a, b) => a.pid - b.pid)
}

/** How many living processes carry each of these words, by one look at all of them. */
export async function countLiving(marks: readonly string[]): Promise<Map<string, number>> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const texts = await Promise.all(
    pids.map(async (pid) => `${await readOfProcess(pid, 'cmdline')}\0${await readOfProcess(pid, 'environ')}`),
  )
  return new Map(marks.map((mark) => [mark, texts.filter((text) => text.includes(mark)).length]))
}

/** What is left of them when they have ended, or after that long at most. */
export async function leftAfter(mark: string, ms: number): Promise<Orphan[]> {
  const deadline = performance.now() + ms
  let left = await livingWith(mark)
  while (left.length > 0 && performance.now() < deadline) {
    await sleep(20)
    left = await livingWith(mark)
  }
  return left
}

/** Kills all of them, and those they start meanwhile; gives what there was. */
export async function endLiving(mark: string): Promise<Orphan[]> {
  const ended: Orphan[] = []
  for (let left = await livingWith(mark); left.length > 0; left = await leftAfter(mark, 20)) {
    for (const orphan of left) kill(orphan.pid)
    ended.push(...left.filter(({ pid }) => !ended.some((known) => known.pid === pid)))
  }
  return ended
}

async function look(pid: string, mark: string): Promise<Orphan | undefined> {
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
