import { platform } from 'node:os'
import { resolve } from 'node:path'
import { requireConsent } from '../../cli/ask/confirm.ts'
import type { CommandHandler, ParsedOptions } from '../../cli/command.ts'
import type { Host } from '../../cli/host.ts'
import { printJson, printTable } from '../../cli/print.ts'
import { CrabError, toCrabError } from '../../core/base/errors.ts'
import { pluralize } from '../../core/base/format.ts'
import { didYouMean } from '../../core/base/nearest.ts'
import { redactEntry } from '../../core/config/secrets.ts'
import type { ForeignFile } from '../../edge/import/foreign-file.ts'
import { readForeignFiles, type UnreadableFile } from '../../edge/import/foreign-file.ts'
import { FOREIGN_KINDS, type ForeignKind, KIND_TITLES } from '../../edge/import/foreign-kinds.ts'
import { guessProject, type ImportPlan, planImport } from '../../edge/import/import-plan.ts'
import { findProjectFolders, listLocations } from '../../edge/import/locations.ts'
import type { Vault } from '../../edge/vault/types.ts'
import { openOrCreateVault, openVault } from '../../edge/vault/vault.ts'
import { type OpenVaultHome, openCredentials, openVaultHome } from '../vault/home.ts'
import { describeKeySource } from '../vault/items.ts'
import { attachServers } from './attach-servers.ts'
import { readAgentOption } from './change.ts'
import { type ImportTarget, readAgentTarget, readScopedTarget } from './import-target.ts'
import { formatImportPlan } from './import-text.ts'

/** Runs `crabtalk mcp import`; without --from it lists the files it finds. */
export const importServersCommand: CommandHandler = async ({ options, host, signal }) => {
  const from = options.value('from')
  const { files, unreadable } = await findFiles(from, host)
  if (from === undefined) return await listFiles({ files, unreadable }, { options, host })
  const isScoped = options.value('scope') !== undefined
  await using attached = isScoped ? undefined : await attachServers(host, signal)
  await using home = await openVaultHome(host)
  const target = attached
    ? await readAgentTarget(attached, readAgentOption(options), signal)
    : await readScopedTarget(options, host)
  const plan = await makePlan(files, { options, host, home, target })
  for (const { path, problem } of unreadable) plan.notices.push({ path, text: problem })
  refuseNothing({ files, plan }, { options, from })
  const isDry = options.has('dry-run') || plan.servers.length === 0
  if (options.has('json') && isDry)
    return printJson(host, toJson(options, { target, plan, isWritten: false }))
  if (!options.has('json')) await printPlan(host, formatImportPlan(target.name, plan, files))
  if (isDry) return 0
  const question = `Add ${pluralize(plan.servers.length, 'server')} to ${target.name}?`
  await requireConsent(question, { task: 'import the servers', options, host }, signal)
  await writePlan({ home, host, target, plan }, signal)
  if (options.has('json')) return printJson(host, toJson(options, { target, plan, isWritten: true }))
  host.stdout.write(
    `added ${plan.servers.map(({ entry }) => entry.name).join(', ')} to ${target.name}${isScoped ? '' : '; crabtalk mcp ping starts them'}\n`,
  )
  return 0
}

/** Reads the files of `from`: a program, `all` of them, or a file that the user names. Throws `usage` and `no-input`. */
async function findFiles(from: string | undefined, host: Host) {
  const isKind = from === undefined || from === 'all' || FOREIGN_KINDS.includes(from as ForeignKind)
  if (!isKind) return await readNamed(from, host)
  const { env, homeDir } = host
  const folders = await findProjectFolders(host.cwd())
  const locations = listLocations({ env, homeDir, platform: platform(), folders })
  const chosen = locations.filter(({ kind }) => from === undefined || from === 'all' || kind === from)
  const found = await readForeignFiles(chosen)
  if (from === undefined || from === 'all' || found.files.length > 0 || found.unreadable.length > 0)
    return found
  throw new CrabError('no-input', `Cannot find servers of ${KIND_TITLES[from as ForeignKind]}`, {
    hint: `it looked for ${chosen.map(({ path }) => path).join(', ')}; give another file with --from FILE`,
  })
}

async function readNamed(from: string, host: Host) {
  const path = resolve(host.cwd(), from)
  const project = guessProject(path)
  const { files, unreadable } = await readForeignFiles([{ path, ...(project !== undefined && { project }) }])
  const [only] = unreadable
  if (only) throw new CrabError('invalid', `Cannot import ${from}: ${only.problem}`)
  if (files.length > 0) return { files, unreadable }
  throw new CrabError('no-input', `Cannot import ${from}: neither a file nor a program has that name`, {
    hint: didYouMean(from, FOREIGN_KINDS) ?? `the programs are ${FOREIGN_KINDS.join(', ')}`,
  })
}

async function listFiles(
  { files, unreadable }: { files: readonly ForeignFile[]; unreadable: readonly UnreadableFile[] },
  { options, host }: { options: ParsedOptions; host: Host },
): Promise<number> {
  const rows = files.map(({ kind = '', path, entries }) => ({
    kind,
    path,
    servers: entries.servers.map(({ name }) => name),
  }))
  if (options.has('json')) return printJson(host, rows)
  if (rows.length === 0) host.stderr.write('No servers of other programs found\n')
  else {
    await printTable(
      host,
      ['FROM', 'FILE', 'SERVERS'],
      rows.map(({ kind, path, servers }) => [kind, path, servers.join(', ')]),
    )
    host.stderr.write(
      'crabtalk mcp import --from NAME imports those of one program, --from all all of them\n',
    )
  }
  for (const { path, problem } of unreadable) host.stderr.write(`crabtalk: ${path}: ${problem}\n`)
  return 0
}

async function makePlan(
  files: readonly ForeignFile[],
  {
    options,
    host,
    home,
    target,
  }: { options: ParsedOptions; host: Host; home: OpenVaultHome; target: ImportTarget },
): Promise<ImportPlan> {
  const credentials = openCredentials(home)
  const vault = await openVault(home)
  return await planImport(files, {
    agent: target.name,
    existing: target.existing,
    isExpanded: target.isExpanded,
    names: options.args,
    cwd: host.cwd(),
    homeDir: host.homeDir,
    find: (name) => credentials.find(name),
    stored: async (name) => await vault?.get(name),
  })
}

/** Throws `missing` for a name that no file has. */
function refuseNothing(
  { files, plan }: { files: readonly ForeignFile[]; plan: ImportPlan },
  { options, from }: { options: ParsedOptions; from: string },
): void {
  const seen = new Set([
    ...plan.servers.map(({ entry }) => entry.name),
    ...plan.skipped.map(({ name }) => name),
  ])
  const all = files.flatMap(({ entries }) => entries.servers.map(({ name }) => name))
  const unknown = options.args.find((name) => !seen.has(name) && !all.includes(name))
  if (unknown === undefined) return
  throw new CrabError('missing', `Cannot import "${unknown}": ${from} has no server of that name`, {
    hint: didYouMean(unknown, all) ?? `it has ${all.join(', ')}`,
  })
}

/**
 * Writes the secrets first, all at once, and then all servers in one change of their file. When the
 * servers cannot be written, the secrets are removed again. Throws `conflict` when one of them would replace a
 * credential that was stored while the question waited.
 */
async function writePlan(
  {
    home,
    host,
    target,
    plan,
  }: {
    home: OpenVaultHome
    host: Host
    target: ImportTarget
    plan: ImportPlan
  },
  signal: AbortSignal,
): Promise<void> {
  const names = Object.keys(plan.secrets)
  const { vault, created } = names.length > 0 ? await openOrCreateVault(home, signal) : {}
  if (created) host.stderr.write(`crabtalk: created ${home.paths.vault}; ${describeKeySource(created)}\n`)
  const added = (await vault?.add(plan.secrets, signal)) ?? []
  try {
    await target.add(
      plan.servers.map(({ entry }) => entry),
      signal,
    )
  } catch (reason) {
    const left = await removeAll(vault, added)
    if (left.length === 0) throw reason
    const { kind, message } = toCrabError(reason)
    const hint = `the vault keeps ${left.join(', ')}: import again, or crabtalk vault remove NAME`
    throw new CrabError(kind, message, { cause: reason, hint })
  }
}

/** Removes credentials again; returns those that could not be removed. */
async function removeAll(vault: Vault | undefined, names: readonly string[]): Promise<string[]> {
  const left: string[] = []
  for (const name of names) {
    const isRemoved = await vault?.remove(name, new AbortController().signal).catch(() => false) // it is reported
    if (!isRemoved) left.push(name)
  }
  return left
}

async function printPlan(host: Host, text: string): Promise<void> {
  host.stdout.write(text)
  await host.stdout.flush() // the question must appear below it
}

function toJson(
  options: ParsedOptions,
  { target, plan, isWritten }: { target: ImportTarget; plan: ImportPlan; isWritten: boolean },
) {
  const { servers, skipped, notices, secrets } = plan
  const scope = options.value('scope')
  return {
    ...(scope === undefined ? { agent: target.name } : { scope, file: target.name }),
    written: isWritten,
    servers: servers.map(({ entry, found, missing, notices, path, secrets }) => ({
      file: path,
      entry: redactEntry(entry),
      secrets: Object.keys(secrets),
      existing: found,
      missing,
      notices,
    })),
    skipped: skipped.map(({ name, path, why }) => ({ file: path, name, why })),
    notices: notices.map(({ path, text }) => ({ file: path, text })),
    secrets: Object.keys(secrets),
  }
}
