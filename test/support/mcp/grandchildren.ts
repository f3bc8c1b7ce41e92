import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import type { GrandchildKind } from './options.ts'

const PROGRAM = join(import.meta.dirname, 'grandchild.ts')

/**
 * Starts a process that keeps this one's standard output and error open and outlives it; returns its pid once
 * it runs. `session` starts it in a new session (setsid), `stubborn` makes it ignore signals.
 */
export async function startGrandchild(kind: GrandchildKind, mark: string | undefined): Promise<number> {
  const traits = kind.split('+')
  const args = [
    PROGRAM,
    ...(traits.includes('stubborn') ? ['stubborn'] : []),
    ...(mark === undefined ? [] : [mark]),
  ]
  const child = spawn(process.execPath, args, {
    detached: traits.includes('session'),
    stdio: ['ignore', 'inherit', 'inherit', 'pipe'],
  })
  await once(child.stdio[3] as Readable, 'data')
  child.unref()
  return child.pid!
}
