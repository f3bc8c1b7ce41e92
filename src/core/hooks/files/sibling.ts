import { readdir, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { newUlid } from '../../base/ids.ts'
import { sha256 } from '../../base/sha256.ts'

/**
 * Names a temporary file beside a target, for content that is renamed into the target's place.
 *
 * The name starts with a dot, so that programs which watch the folder skip it, and with a digest of the target's name, so
 * that `removeSiblings()` finds what a killed process left.
 */
export function newSiblingName(target: string): string {
  return `${prefixFor(target)}${newUlid()}.tmp`
}

/**
 * Removes temporary files that a killed process left beside a target. The caller holds the lease `file:<target>`, so that
 * none of them is in use. Never throws.
 */
export async function removeSiblings(target: string): Promise<void> {
  const folder = dirname(target)
  const prefix = prefixFor(target)
  const names = await readdir(folder).catch(() => []) // the folder is gone, and its files with it
  const siblings = names.filter((name) => name.startsWith(prefix) && name.endsWith('.tmp'))
  await Promise.all(siblings.map((name) => rm(join(folder, name), { force: true }).catch(() => undefined))) // only untidy
}

function prefixFor(target: string): string {
  return `.crab-${sha256(basename(target)).toString('hex').slice(0, 12)}-`
}
