import { readdir, readFile, rename, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { CrabError } from '../../core/base/errors.ts'
import { isMissingFile, toStorageError } from '../../core/base/files.ts'
import { didYouMean } from '../../core/base/nearest.ts'
import type { HomePaths } from '../../core/config/paths.ts'
import { checksum, type PkgPorts } from './install.ts'
import { type PkgRecord, packageRecordPath, readRecords } from './records.ts'

/** The result of a removal. */
export interface PkgRemoval {
  name: string
  /** The removed skills and agents, such as `skills/review` and `agents/reviewer`. */
  removed: string[]
  /** The parts that stay because the user changed them, such as `skills/review: SKILL.md`. */
  retained: string[]
}

/**
 * Removes the skills and agents of a package. A skill or an agent with a changed or added file stays as a
 * whole, because it is now the user's. Throws `missing`.
 */
export async function removePkg(name: string, ports: PkgPorts, signal: AbortSignal): Promise<PkgRemoval> {
  const { paths } = ports
  await using _ = await ports.lock('pkg', signal)
  await using _agents = await ports.lock(`file:${paths.agents}`, signal)
  const record = await findRecord(name, paths)
  const removal: PkgRemoval = { name, removed: [], retained: [] }
  for (const folder of record.skills) {
    const own = `skills/${folder}`
    const files = await filesBelow(paths.home, own)
    await settle({ own, files, record, removal, paths }, async () => {
      // Atomic: other processes never see a part of it.
      await rename(join(paths.home, own), join(ports.folder, `old ${folder}`))
    })
  }
  for (const agent of record.agents) {
    const own = `agents/${agent}`
    const files = (await filesIn(paths.agents)).filter(
      (file) => file === `${agent}.toml` || file === `${agent}.md`,
    )
    await settle({ own, files: files.map((file) => `agents/${file}`), record, removal, paths }, async () => {
      await rm(join(paths.agents, `${agent}.toml`), { force: true })
      await rm(join(paths.agents, `${agent}.md`), { force: true })
    })
  }
  await rm(packageRecordPath(paths, name), { force: true })
  return removal
}

interface Unit {
  own: string
  /** Its files, relative to the home. */
  files: readonly string[]
  record: PkgRecord
  removal: PkgRemoval
  paths: HomePaths
}

async function settle(
  { own, files, record, removal, paths }: Unit,
  remove: () => Promise<void>,
): Promise<void> {
  if (files.length === 0) return
  const changed: string[] = []
  for (const file of files) {
    const sum = checksum(await readFile(join(paths.home, file)))
    if (record.files[file] !== sum)
      changed.push(file.startsWith(`${own}/`) ? file.slice(own.length + 1) : basename(file))
  }
  if (changed.length > 0) {
    removal.retained.push(`${own}: ${changed.join(', ')}`)
    return
  }
  await remove().catch((reason: unknown) => {
    throw toStorageError(`Cannot remove ${own}`, reason)
  })
  removal.removed.push(own)
}

async function findRecord(name: string, paths: HomePaths): Promise<PkgRecord> {
  const { records } = await readRecords(paths)
  const found = records.find((one) => one.name === name)
  if (found) return found
  const near = didYouMean(
    name,
    records.map((one) => one.name),
  )
  throw new CrabError('missing', `Cannot remove ${name}: it is not installed`, {
    hint: near ?? 'crabup pkg list shows what is installed',
  })
}

async function filesBelow(home: string, folder: string): Promise<string[]> {
  const entries = await readdir(join(home, folder), { withFileTypes: true }).catch((reason: unknown) => {
    if (isMissingFile(reason)) return []
    throw toStorageError(`Cannot read ${join(home, folder)}`, reason)
  })
  const paths = entries.map(async (entry) => {
    const path = `${folder}/${entry.name}`
    return entry.isDirectory() ? await filesBelow(home, path) : [path]
  })
  return (await Promise.all(paths)).flat().toSorted()
}

async function filesIn(folder: string): Promise<string[]> {
  return await readdir(folder).catch(() => [])
}
