import { renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { workerData } from 'node:worker_threads'

/**
 * Runs a thread that repeatedly swaps a file, and then its folder, for links that lead out of the workspace,
 * and back.
 */
const { folder, rounds } = workerData as { folder: string; rounds: number }
const at = (name: string) => join(folder, name)
symlinkSync(at('secret'), at('link'))
for (let round = 0; round < rounds; round++) {
  symlinkSync(at('secret/file'), at('file-link'))
  renameSync(at('file-link'), at('work/sub/file'))
  writeFileSync(at('real'), 'mine\n')
  renameSync(at('real'), at('work/sub/file'))
  renameSync(at('work/sub'), at('kept'))
  renameSync(at('link'), at('work/sub'))
  renameSync(at('work/sub'), at('link'))
  renameSync(at('kept'), at('work/sub'))
}
rmSync(at('link'))
