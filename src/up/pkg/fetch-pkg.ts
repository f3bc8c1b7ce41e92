import type { PackageFacts } from '../packages/facts.ts'
import type { Npm } from '../packages/npm.ts'
import { type CallerContext, parsePackageSpec } from '../packages/package-spec.ts'
import { fetchPackage, fetchPackageFacts } from '../packages/source.ts'
import type { UpHost } from '../types.ts'
import { type PkgContents, readContents } from './contents.ts'
import { fetchGit, findRepository, formatGitSource, parseGitSource } from './git.ts'
import type { PkgRecord } from './records.ts'
import { folderTree, type TreeReader, tarTree } from './tree.ts'

/** A package that was fetched and checked, but not installed. */
export interface FetchedPkg {
  contents: PkgContents
  source: PkgRecord['source']
  /** The registry's data; undefined when the package does not come from the registry. */
  facts: PackageFacts | undefined
}

interface FetchPkgPorts {
  host: UpHost
  npm(): Promise<Npm>
  /** The folder for fetched files. */
  folder: string
  caller: CallerContext
  step(text: string): void
}

/** Fetches and reads the package that a word names: a git address, an npm package, a tarball or a folder. */
export async function fetchPkg(word: string, ports: FetchPkgPorts, signal: AbortSignal): Promise<FetchedPkg> {
  const { readTree, source, facts } = await fetch(word, ports, signal)
  ports.step(`Reading ${word}`)
  return { contents: await readContents(readTree, signal), source, facts }
}

async function fetch(
  word: string,
  ports: FetchPkgPorts,
  signal: AbortSignal,
): Promise<{ readTree: TreeReader; source: PkgRecord['source']; facts?: PackageFacts | undefined }> {
  const named = parseGitSource(word)
  const git = named ?? (await findRepository(word, ports.caller))
  if (git) {
    ports.step(`Fetching ${git.url}`)
    const { tarball, commit } = await fetchGit(git, ports, signal)
    return {
      readTree: tarTree(tarball),
      source: { kind: 'git', from: named ? word : formatGitSource(git), commit },
    }
  }
  const spec = await parsePackageSpec(word, undefined, { ...ports.caller, verb: 'add' })
  if (spec.kind === 'tarball')
    return { readTree: tarTree(spec.path), source: { kind: 'tarball', from: spec.path } }
  if (spec.kind === 'folder')
    return { readTree: folderTree(spec.path), source: { kind: 'folder', from: spec.path } }
  const npm = await ports.npm()
  ports.step(`Looking up ${spec.package}`)
  const known = await fetchPackageFacts(spec, npm, signal)
  ports.step(`Fetching ${known.package} ${known.version}`)
  const { tarball, facts } = await fetchPackage(spec, { known, npm, folder: ports.folder }, signal)
  const publisher = facts.publisher !== undefined && { publisher: facts.publisher }
  return { readTree: tarTree(tarball), facts, source: { kind: 'npm', from: word, ...publisher } }
}
