import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fetchHealth } from '../../core/base/http/fetch-health.ts'
import type { JsonObject } from '../../core/base/message.ts'
import type { HomePaths } from '../../core/config/paths.ts'
import { toTime } from '../foreign-time.ts'
import { readStaleStamp } from './stale-files.ts'
import type { Probe } from './types.ts'

/**
 * Probes the component of that name at the address in its port file (ADR 0117). A component without /health,
 * or without HTTP, answers as soon as its port accepts a connection.
 */
export async function probeComponent(
  name: string,
  { run }: Pick<HomePaths, 'run'>,
  signal: AbortSignal,
): Promise<Probe> {
  const file = join(run, `${name}.port`)
  const stamp = await readStaleStamp(file, Date.now())
  const text = await readFile(file, 'latin1').catch(() => undefined) // it does not announce itself
  if (text === undefined) return { answers: false }
  const port = Number(/^(\d{1,5})\s*$/.exec(text)?.[1] ?? 0)
  if (port < 1 || port > 65_535)
    return { answers: false, leftover: { file }, problem: `run/${name}.port does not contain a port number` }
  const health = await fetchHealth(port, signal)
  if (health === 'refused') return { answers: false, port, leftover: { file, ...(stamp && { stamp }) } }
  if (health === 'silent') return { answers: false, port, problem: `port ${port} does not answer` }
  return { port, ...judge(name, health) }
}

function judge(name: string, health: JsonObject): Probe {
  const { name: says, version, pid, started } = health
  if (typeof says === 'string' && says !== name) {
    return { answers: false, isForeign: true, problem: `${says} answers at its port` }
  }
  const since = toTime(started)
  return {
    answers: true,
    ...(typeof says !== 'string' && { isUnnamed: true as const }),
    ...(typeof version === 'string' && { version }),
    ...(typeof pid === 'number' && { pid }),
    ...(since !== undefined && { since }),
  }
}
