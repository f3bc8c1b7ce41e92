import { closeSync, readdirSync, readFileSync } from 'node:fs'
import { platform } from 'node:os'
import { join } from 'node:path'

/**
 * Closes the descriptors above 2 that this process got from who started it and would hand on, such as the lock of a
 * script: what lives long must not hold them. Linux shows them; Node itself keeps the others from being handed on where
 * their numbers are low.
 */
export function closeInherited(proc = '/proc/self'): void {
  if (platform() !== 'linux') return
  for (const fd of listInherited(proc)) closeSync(fd)
}

/** All of Node's own are closed on exec. */
function listInherited(proc: string): number[] {
  return readdirSync(join(proc, 'fd'))
    .map(Number)
    .filter((fd) => fd > 2 && !isClosedOnExec(proc, fd))
}

function isClosedOnExec(proc: string, fd: number): boolean {
  try {
    const [, flags = '0'] =
      /^flags:\s*([0-7]+)/m.exec(readFileSync(join(proc, 'fdinfo', String(fd)), 'latin1')) ?? []
    return (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) !== 0
  } catch {
    return true // the one that read the folder
  }
}

/** O_CLOEXEC, as fdinfo shows it (proc(5)). */
const CLOSE_ON_EXEC = 0o2000000
