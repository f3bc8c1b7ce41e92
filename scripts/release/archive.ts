import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { NOTICE_FILES } from '../notices/files.ts'
import type { Entry } from './file-tree.ts'
import { makeTarGz } from './tar.ts'
import type { Target } from './targets.ts'
import { makeZip } from './zip.ts'

/**
 * Makes the archive of a platform: one folder laid out for installation below a prefix. The notices and the
 * SBOM are read from the binary's folder, where the build writes them.
 */
export async function makeArchive(
  target: Target,
  { binary, version, shared }: { binary: string; version: string; shared: readonly Entry[] },
): Promise<{ name: string; bytes: Buffer }> {
  const isWindows = target.os === 'win32'
  const folder = `crabtalk-${version}-${target.name}`
  const notices = NOTICE_FILES.map(async (name) => ({
    path: `share/doc/crabtalk/${name}`,
    bytes: await readFile(join(dirname(binary), name)),
  }))
  const entries: Entry[] = [
    { path: `bin/${target.binary}`, bytes: await readFile(binary), executable: true },
    isWindows
      ? { path: 'bin/crabup.cmd', bytes: await readFile(join(dirname(binary), 'crabup.cmd')) }
      : { path: 'bin/crabup', link: target.binary },
    ...(await Promise.all(notices)),
    ...shared.filter(({ path }) => !isWindows || isForWindows(path)),
  ]
  const below = entries.map((entry) => ({ ...entry, path: `${folder}/${entry.path}` }))
  return isWindows
    ? { name: `${folder}.zip`, bytes: makeZip(below) }
    : { name: `${folder}.tar.gz`, bytes: makeTarGz(below) }
}

/** Whether a shared file is useful on Windows, which has no man and only one of the shells, PowerShell. */
function isForWindows(path: string): boolean {
  return path.startsWith('share/doc/') || path.endsWith('.ps1')
}
