import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { CrabError } from '../../core/base/errors.ts'
import { replaceFile } from '../../core/base/files.ts'
import { parseObject } from '../../core/base/json.ts'
import { RECORD_FILE } from './installed.ts'
import type { Npm } from './npm.ts'
import { findPackageProgram } from './package-program.ts'
import type { PackagePorts } from './ports.ts'
import type { PackageRecord } from './record.ts'
import type { PackageSource } from './source.ts'

interface Installation {
  npm: Npm
  source: PackageSource
  /** The folder to install into; npm creates it. */
  prefix: string
  name: string
  ports: Pick<PackagePorts, 'platform' | 'now'>
}

/** Installs a package with npm, verifies that every file arrived, and writes its record. Throws like Npm. */
export async function install(at: Installation, signal: AbortSignal): Promise<void> {
  const { npm, source, prefix, ports } = at
  const { facts, files } = source
  await npm.install(source.tarball, prefix, signal)
  const modules = ports.platform === 'win32' ? ['node_modules'] : ['lib', 'node_modules']
  const parts = [...modules, ...facts.package.split('/')]
  const folder = join(prefix, ...parts)
  // When two files have the same path, the last one counts.
  const sizes = new Map(files.map(({ path, size }) => [path, size]))
  for (const [path, size] of sizes) {
    if (isMoved(path) || (await readSize(join(folder, path))) === size) continue
    throw new CrabError('failed', `Cannot install ${facts.package}: npm has left ${path} incomplete`)
  }
  await writeRecord(at, { folder, parts })
}

/** Whether npm renames the file or puts it elsewhere. */
function isMoved(path: string): boolean {
  return path.endsWith('.gitignore') || path.includes('node_modules/')
}

async function readSize(path: string): Promise<number | undefined> {
  return await stat(path).then(
    ({ size }) => size,
    () => undefined,
  )
}

/** Writes the record last: an installation without one is incomplete. */
async function writeRecord(
  { source, prefix, name, ports }: Installation,
  { folder, parts }: { folder: string; parts: readonly string[] },
): Promise<void> {
  const { facts } = source
  const manifest = parseObject(await readFile(join(folder, 'package.json'), 'utf8').catch(() => ''))
  if (manifest?.['version'] !== facts.version) {
    throw new CrabError('failed', `Cannot install ${facts.package}: npm has put nothing into ${folder}`)
  }
  const program = await findPackageProgram(folder, { manifest, name })
  const record: PackageRecord = {
    package: facts.package,
    version: facts.version,
    description: facts.description,
    script: [...parts, program.path].join('/'),
    runsOnNode: program.runsOnNode,
    installedAt: new Date(ports.now()).toISOString(),
    source: source.source,
    origin: source.origin,
    variables: [...facts.variables],
    ...(facts.publisher !== undefined && { publisher: facts.publisher }),
  }
  await replaceFile(join(prefix, RECORD_FILE), `${JSON.stringify(record, undefined, 2)}\n`)
}
