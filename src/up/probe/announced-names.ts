import { readdir } from 'node:fs/promises'
import { basename } from 'node:path'
import type { HomePaths } from '../../core/config/paths.ts'
import { readFamilies } from '../../core/process/process-table.ts'
import type { ProbeService } from './types.ts'

/** Lists the names of components that announce themselves by a port file in run/. */
export async function listAnnouncedNames({ run }: Pick<HomePaths, 'run'>): Promise<string[]> {
  const files = await readdir(run).catch(() => []) // nothing has ever run in this home
  return files
    .filter((file) => /^[a-z0-9][\w-]*\.port$/i.test(file) && file !== 'crabtalk.port')
    .map((file) => basename(file, '.port'))
    .toSorted()
}

/** Finds another name under which a process of a service, or one of its children, announces itself. */
export async function findAnnouncedName(
  pid: number,
  { paths, probe, name }: { paths: Pick<HomePaths, 'run'>; probe: ProbeService; name: string },
  signal: AbortSignal,
): Promise<string | undefined> {
  const others = (await listAnnouncedNames(paths)).filter((other) => other !== name)
  if (others.length === 0) return undefined
  const [families, probes] = await Promise.all([
    readFamilies([pid]),
    Promise.all(others.map((other) => probe(other, signal))),
  ])
  const own = families.get(pid)?.pids ?? [pid]
  return others.find((_, index) => {
    const answering = probes[index]?.pid
    return answering !== undefined && own.includes(answering)
  })
}
