import { join, resolve } from 'node:path'
import { resolvePaths } from '../../cli/paths.ts'
import { findProject } from '../../core/trust/find-project.ts'
import { type Catalog, readCatalog } from '../../edge/catalog/catalog.ts'
import type { InstallPlaces } from '../../edge/catalog/placeholders.ts'
import type { Template } from '../../edge/catalog/template.ts'
import { openCredentials, openVaultHome, type VaultHost } from '../vault/home.ts'

/** The parts of a host that an installation needs. */
export type InstallHost = VaultHost & { uid: number }

/** Reads the catalog of this program and of the user. Throws `storage`. */
export function openCatalog(host: InstallHost): Promise<Catalog> {
  return readCatalog(resolvePaths(host).catalog)
}

/** Returns the directories that defaults name; the project is that of a working directory. */
export async function findInstallPlaces(host: InstallHost, cwd: string): Promise<InstallPlaces> {
  const { uid, homeDir } = host
  const project = await findProject(cwd, { uid, homeDir })
  return {
    CRABTALK_PROJECT_DIR: project?.root ?? cwd,
    CRABTALK_HOME: resolvePaths(host).home,
    HOME: homeDir,
  }
}

/** Returns the credentials of a template that the vault, `.env` or the environment has. */
export async function findAvailable({ credentials = [] }: Template, host: InstallHost): Promise<Set<string>> {
  if (credentials.length === 0) return new Set()
  await using home = await openVaultHome(host)
  const resolver = openCredentials(home)
  const available = new Set<string>()
  for (const { name } of credentials) if (await resolver.find(name)) available.add(name)
  return available
}

/** Makes the paths among the values of parameters absolute; a shell does not expand the `~` of `DIR=~/notes`. */
export function toAbsoluteValues(
  { parameters = [] }: Template,
  values: ReadonlyMap<string, readonly string[]>,
  { cwd, homeDir }: { cwd: string; homeDir: string },
): Map<string, readonly string[]> {
  const isPath = new Set(parameters.filter(({ path }) => path).map(({ name }) => name))
  const toAbsolute = (text: string) =>
    resolve(
      cwd,
      text.replace(/^~(?=$|\/)/, () => join(homeDir, '.')),
    )
  return new Map([...values].map(([name, texts]) => [name, isPath.has(name) ? texts.map(toAbsolute) : texts]))
}
