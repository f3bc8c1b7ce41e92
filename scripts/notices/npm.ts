import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Metafile } from 'esbuild'
import { isMissingFile } from '../../src/core/base/files.ts'
import { type Component, tidy } from './component.ts'

const ROOT = join(import.meta.dirname, '../..')
/** The texts of packages that do not include one, a file for each package. */
const SUPPLEMENTS = join(ROOT, 'packaging/notices/npm')
const APACHE = join(ROOT, 'packaging/notices/Apache-2.0.txt')
const PACKAGE = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/
const LICENSE_FILE = /^(licen[sc]e|copying|notice)([-.].*)?$/i

/** Returns the folders of the npm packages whose code a bundle contains, relative to the repository. */
export function bundledFolders(metafiles: readonly Metafile[]): string[] {
  const inputs = metafiles.flatMap(({ outputs }) =>
    Object.values(outputs).flatMap(({ inputs }) =>
      Object.entries(inputs).flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : [])),
    ),
  )
  const folders = inputs.flatMap((path) => PACKAGE.exec(path.replaceAll('\\', '/'))?.[0] ?? [])
  return [...new Set(folders)].toSorted()
}

/** Describes the packages in these folders. Throws for a package without a license or its text. */
export async function npmComponents(folders: readonly string[]): Promise<Component[]> {
  const { packages } = JSON.parse(await readFile(join(ROOT, 'package-lock.json'), 'utf8')) as Lock
  return await Promise.all(folders.map((folder) => npmComponent(folder, packages[folder])))
}

interface Lock {
  packages: Record<string, { integrity?: string } | undefined>
}

async function npmComponent(folder: string, locked: { integrity?: string } | undefined): Promise<Component> {
  const manifest = JSON.parse(await readFile(join(ROOT, folder, 'package.json'), 'utf8'))
  const { name, version, license } = manifest as { name: string; version: string; license?: unknown }
  if (typeof license !== 'string') throw new Error(`Cannot bundle ${name}: its package.json names no license`)
  const texts = await licenseTexts(folder, name, license)
  if (texts.length === 0) {
    throw new Error(
      `Cannot bundle ${name}: it brings no license text; add packaging/notices/npm/${fileFor(name)}`,
    )
  }
  return {
    name,
    version,
    license: license.replace(/^\((.*)\)$/, '$1'),
    purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
    type: 'library',
    ...toHash(locked?.integrity),
    texts,
  }
}

/** Reads license and notice files; many packages under the Apache license only refer to its text, which is added. */
async function licenseTexts(folder: string, name: string, license: string): Promise<string[]> {
  const names = (await readdir(join(ROOT, folder))).filter((file) => LICENSE_FILE.test(file))
  const paths = names.toSorted().map((file) => join(ROOT, folder, file))
  const supplement = join(SUPPLEMENTS, fileFor(name))
  const own = await Promise.all([...paths, supplement].map(readIfThere))
  const texts = own.filter((text) => text !== undefined)
  const refersToApache =
    license.includes('Apache-2.0') && !texts.some((text) => text.includes('TERMS AND COND'))
  if (texts.length > 0 && refersToApache) texts.push(tidy(await readFile(APACHE, 'utf8')))
  return texts
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return tidy(await readFile(path, 'utf8'))
  } catch (reason) {
    if (isMissingFile(reason)) return undefined
    throw reason
  }
}

function fileFor(name: string): string {
  return `${name.replace('/', '__')}.txt`
}

/** Converts the integrity of a lock file, in base64, to a hash for CycloneDX. */
function toHash(integrity = ''): Pick<Component, 'hash'> {
  const [, digest] = /^sha512-(.+)$/.exec(integrity) ?? []
  if (digest === undefined) return {}
  return { hash: { alg: 'SHA-512', content: Buffer.from(digest, 'base64').toString('hex') } }
}
