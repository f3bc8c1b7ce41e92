import { existsSync } from 'node:fs'
import { CrabError } from '../../core/base/errors.ts'
import type { PackageFacts } from './facts.ts'
import type { InstalledService } from './installed.ts'
import type { PullResult } from './ports.ts'
import type { PackageSource } from './source.ts'

/**
 * Whether the version is already installed completely. Only registry versions count: a folder or a tarball
 * may have changed without a new version.
 */
export function isSame(
  before: InstalledService | undefined,
  { facts, origin }: Pick<PackageSource, 'facts' | 'origin'>,
): boolean {
  if (before?.version !== facts.version || before.origin !== 'registry') return false
  return origin === 'registry' && existsSync(before.script)
}

/** Throws `conflict` when the name belongs to another package. */
export function refuseOther(before: InstalledService | undefined, packageName: string, name: string): void {
  if (before === undefined || before.package === packageName) return
  throw new CrabError('conflict', `Cannot pull ${packageName}: ${name} is ${before.package} here`, {
    hint: `crabup rm ${name} makes room for it`,
  })
}

/** Builds the result of a pull; the defaults are those of a first installation. */
export function toPullResult(name: string, facts: PackageFacts, how: Partial<PullResult>): PullResult {
  const { package: packageName, version } = facts
  return {
    name,
    package: packageName,
    version,
    before: undefined,
    isSame: false,
    wasRestarted: false,
    ...how,
  }
}
