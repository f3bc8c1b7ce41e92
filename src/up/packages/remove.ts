import { rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { CrabError } from '../../core/base/errors.ts'
import { syncDir, toStorageError } from '../../core/base/files.ts'
import { didYouMean } from '../../core/base/nearest.ts'
import { ownEnvFile } from '../own-env.ts'
import { brokenPackages, componentFolder, installedServices, isServiceName } from './installed.ts'
import { findBuiltIn } from './package-spec.ts'
import { componentLockName, type PackagePorts } from './ports.ts'
import { openStaging } from './version-folders.ts'

/**
 * Stops the service of a component and removes its package; `word` names either. Returns the component's
 * name. Its data elsewhere stays. Throws `missing`, and `usage` for a built-in.
 */
export async function removePackage(
  word: string,
  ports: Pick<PackagePorts, 'paths' | 'pid' | 'lock' | 'services' | 'step'>,
  signal: AbortSignal,
): Promise<string> {
  const name = resolveName(word, ports)
  await using staging = await openStaging(ports.paths, ports.pid)
  await using _ = await ports.lock(componentLockName(name), signal)
  ports.step(`Removing ${name}`)
  await ports.services.remove(name, signal)
  const folder = componentFolder(ports.paths, name)
  try {
    await stat(folder)
    await rename(folder, join(staging.path, name)) // atomic: other processes never see a part of it
    await syncDir(ports.paths.packages)
    await rm(ownEnvFile(ports.paths, name), { force: true })
  } catch (reason) {
    throw toStorageError(`Cannot remove ${name}`, reason)
  }
  return name
}

function resolveName(word: string, { paths }: Pick<PackagePorts, 'paths'>): string {
  const services = installedServices(paths)
  const found = services.find((one) => one.name === word || one.package === word)
  if (found) return found.name
  if (isServiceName(word) && brokenPackages(paths).includes(word)) return word
  if (findBuiltIn(word)) throw new CrabError('usage', `Cannot remove ${word}: it is built in`)
  const near = didYouMean(
    word,
    services.flatMap((one) => [one.name, one.package]),
  )
  throw new CrabError('missing', `Cannot remove ${word}: no such package is installed`, {
    hint: near ?? 'crabup list shows what is',
  })
}
