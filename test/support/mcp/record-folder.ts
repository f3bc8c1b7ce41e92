import { mkdtempDisposable, readdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from '../until.ts'
import { pidsIn } from './record.ts'

/** A folder for the records of watched servers. */
export interface RecordFolder extends AsyncDisposable {
  readonly path: string
}

/**
 * Creates the folder. Create it before anything that starts the servers, so that it is disposed later: it waits
 * until they have ended.
 */
export async function recordFolder(): Promise<RecordFolder> {
  const folder = await mkdtempDisposable(join(tmpdir(), 'crab-servers-'))
  return {
    path: folder.path,
    async [Symbol.asyncDispose]() {
      const names = (await readdir(folder.path)).filter((name) => name.endsWith('.starts'))
      const pids = names.flatMap((name) => pidsIn(join(folder.path, name)))
      await until('the servers have ended', () => !pids.some(isRunning))
      await folder.remove()
    },
  }
}

/** Whether the process exists. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
