import { closeSync, readdirSync, readFileSync } from 'node:fs'
import { platform } from 'node:os'
import { join } from 'node:path'

/**
 * Closes the inheritable descriptors above 2 that this process inherited, such as the lock file of a script:
 * a long-lived process must not keep them open. Linux lists them; on other systems Node itself marks
 * low-numbered descriptors as not inheritable.
 */
export function closeInherited(proc = '/proc/self'): void {
  if (platform() !== 'linux') return
  for (const fd of listInherited(proc)) closeSync(fd)
}

/** Lists the inherited descriptors. Node opens all of its own with close-on-exec. */
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
    return true // the descriptor used to read the folder
  }
}

/** O_CLOEXEC in the format of fdinfo (proc(5)). */
const CLOSE_ON_EXEC = 0o2000000
