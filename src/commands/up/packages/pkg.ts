import { confirm, declinedError } from '../../../cli/ask/confirm.ts'
import type { CommandHandler } from '../../../cli/command.ts'
import { resolvePaths } from '../../../cli/paths.ts'
import { printJson, printTable } from '../../../cli/print.ts'
import { CrabError } from '../../../core/base/errors.ts'
import { toUpHost } from '../../../up/host.ts'
import { openStaging } from '../../../up/packages/component-folder.ts'
import { type FetchedPkg, fetchPkg } from '../../../up/pkg/fetch-pkg.ts'
import { installPkg, refuseTaken } from '../../../up/pkg/install.ts'
import { type PkgRecord, readRecords } from '../../../up/pkg/records.ts'
import { removePkg } from '../../../up/pkg/remove.ts'
import { openPackagePorts } from './package-ports.ts'
import { pkgText } from './pkg-text.ts'

/** `crabup pkg add`: shows the skills and agents of a package and copies them into the home. */
export const addPackageCommand: CommandHandler = async ({ options, host, commands, signal }) => {
  const [word = ''] = options.args
  const paths = resolvePaths(host)
  await using open = await openPackagePorts({ host, options, commands, signal })
  await using staging = await openStaging(paths, host.pid)
  const { ports, status } = open
  const pkg: FetchedPkg = await fetchPkg(
    word,
    {
      host: toUpHost(host),
      npm: ports.npm,
      folder: staging.path,
      caller: { cwd: host.cwd(), homeDir: host.homeDir },
      step: ports.step,
    },
    open.signal,
  )
  const { name, version } = pkg.contents.manifest
  status.clear()
  host.stdout.write(pkgText(pkg))
  await host.stdout.flush()
  await refuseTaken(pkg.contents, paths) // before the question, which a conflict would make pointless
  const isYes = await confirm(`Add ${name} ${version}?`, { options, host }, open.signal)
  if (isYes === undefined) {
    throw new CrabError('denied', `Cannot add ${name}: there is no terminal to ask for confirmation`, {
      hint: 'check where it comes from, then add --yes to add it without asking',
    })
  }
  if (!isYes) throw declinedError(`add ${name}`)
  const record = await installPkg(pkg, { ...ports, paths, folder: staging.path }, open.signal)
  host.stdout.write(`added ${name} ${version}: ${listParts(record).join(', ')}\n`)
  return 0
}

/** `crabup pkg remove`: removes the skills and agents of a package, except those that were changed. */
export const removePackageCommand: CommandHandler = async ({ options, host, commands, signal }) => {
  const paths = resolvePaths(host)
  await using open = await openPackagePorts({ host, options, commands, signal })
  await using staging = await openStaging(paths, host.pid)
  const ports = { ...open.ports, paths, folder: staging.path }
  const { name, removed, retained } = await removePkg(options.args[0] ?? '', ports, open.signal)
  host.stdout.write(`removed ${name}${removed.length > 0 ? `: ${removed.join(', ')}` : ''}\n`)
  await host.stdout.flush()
  for (const one of retained) host.stderr.write(`crabup: kept ${one}, changed since it was installed\n`)
  return 0
}

/** `crabup pkg list`: the packages that brought skills and agents. */
export const listPackagesCommand: CommandHandler = async ({ options, host }) => {
  const { records, broken } = await readRecords(resolvePaths(host))
  if (options.has('json')) printJson(host, records.map(toJson))
  else if (records.length === 0) host.stderr.write('No packages yet; add one with crabup pkg add\n')
  else {
    const rows = records.map((one) => [one.name, one.version, listParts(one).join(', '), fromText(one)])
    await printTable(host, ['NAME', 'VERSION', 'INSTALLED', 'FROM'], rows)
  }
  for (const file of broken) host.stderr.write(`crabup: ${file} is not a valid package record\n`)
  return broken.length > 0 ? 1 : 0
}

function listParts({ skills, agents }: Pick<PkgRecord, 'skills' | 'agents'>): string[] {
  return [...skills.map((one) => `skills/${one}`), ...agents.map((one) => `agents/${one}`)]
}

function fromText({ source }: PkgRecord): string {
  return source.commit === undefined ? source.from : `${source.from} at ${source.commit.slice(0, 12)}`
}

function toJson({ source, installedAt, ...rest }: PkgRecord) {
  const { kind, from, commit = null, publisher = null } = source
  return { ...rest, origin: kind, source: from, commit, publisher, installed_at: installedAt }
}
