import { execFile } from 'node:child_process'
import { platform } from 'node:os'
import { promisify } from 'node:util'
import { startGuarded } from './guarded-process.ts'
import { linuxPlatform } from './linux.ts'
import type { Platform } from './platform.ts'
import { windowsPlatform } from './windows.ts'
import { LIST_BY_PS } from './wrapper.ts'

/** Returns the platform of the system that this process runs on. */
export function ownPlatform(): Platform {
  if (platform() === 'linux') return linuxPlatform()
  return platform() === 'win32' ? windowsPlatform() : posixPlatform()
}

/**
 * The platform of macOS and other systems without Linux's /proc: groups behind the wrapper. These systems do
 * not show the environment of another process, so a process that left its group with setsid outlives it, and
 * there is no sweep.
 */
export function posixPlatform({ shell = '/bin/sh' } = {}): Platform {
  return {
    identify: async (pid) => `0.${pid}.0.`,
    start: (launch) =>
      startGuarded(launch, {
        shell,
        list: LIST_BY_PS,
        membersOf: async ({ pid, watcher }) => (await listGroup(pid)).filter((member) => member !== watcher),
      }),
    sweep: async () => {},
  }
}

/** Lists the running processes of a group. */
async function listGroup(group: number): Promise<number[]> {
  const { stdout } = await promisify(execFile)('/bin/ps', ['-A', '-o', 'pgid=', '-o', 'stat=', '-o', 'pid='])
  return stdout.split('\n').flatMap((line) => {
    const [pgid, stat, pid] = line.trim().split(/\s+/)
    return Number(pgid) === group && !stat?.startsWith('Z') ? [Number(pid)] : []
  })
}
