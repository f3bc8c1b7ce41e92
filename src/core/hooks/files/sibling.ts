import { readdir, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { newUlid, ulidTime } from '../../base/ids.ts'
import { sha256 } from '../../base/sha256.ts'

/**
 * Names a temporary file next to a target, whose content is later renamed into the target's place.
 *
 * The name starts with a dot, so that programs which watch the folder skip it, and with a digest of the
 * target's name, so that `removeSiblings()` finds the files that a killed process left.
 */
export function newSiblingName(target: string): string {
  return `${prefixFor(target)}${newUlid()}.tmp`
}

/**
 * Removes temporary files created before `before`, milliseconds since 1970, that a killed process left next
 * to a target, and returns whether there are younger ones. The caller holds the lease `file:<target>` of its
 * own home; a process of another home may still be writing a young one. Never throws.
 */
export async function removeSiblings(target: string, before: number): Promise<boolean> {
  const folder = dirname(target)
  const prefix = prefixFor(target)
  const names = await readdir(folder).catch(() => []) // the folder is gone, and its files with it
  const siblings = names.filter((name) => name.startsWith(prefix) && name.endsWith('.tmp'))
  const old = siblings.filter(
    (name) => Date.parse(ulidTime(name.slice(prefix.length, -'.tmp'.length))) < before,
  )
  // A leftover file does no harm.
  await Promise.all(old.map((name) => rm(join(folder, name), { force: true }).catch(() => undefined)))
  return old.length < siblings.length
}

function prefixFor(target: string): string {
  return `.crab-${sha256(basename(target)).toString('hex').slice(0, 12)}-`
}
