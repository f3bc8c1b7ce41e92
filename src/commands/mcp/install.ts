import type { CommandHandler, ParsedOptions } from '../../cli/command.ts'
import type { Host } from '../../cli/host.ts'
import { printJson } from '../../cli/print.ts'
import { CrabError } from '../../core/base/errors.ts'
import { pluralize } from '../../core/base/format.ts'
import { sanitize } from '../../core/base/sanitize.ts'
import { renderToml } from '../../core/config/toml-render.ts'
import { findTemplate } from '../../edge/catalog/catalog.ts'
import {
  findInstalledServers,
  type InstalledServer,
  keepHiddenValues,
  type MissingStep,
  type PlannedServer,
  planInstallation,
  refuseTakenName,
} from '../../edge/catalog/install.ts'
import type { Template } from '../../edge/catalog/template.ts'
import { openOrCreateVault } from '../../edge/vault/vault.ts'
import { describeTarget } from '../../mcp/entry-facts.ts'
import { openVaultHome } from '../vault/home.ts'
import { askSecret } from '../vault/read-value.ts'
import { attachServers } from './attach-servers.ts'
import { findAvailable, findInstallPlaces, openCatalog, toAbsoluteValues } from './catalog-home.ts'
import { readAgentOption, writeEntry } from './change.ts'
import { readServers } from './servers.ts'

/** Runs `crabtalk mcp install`. */
export const installServerCommand: CommandHandler = async ({ options, host, signal }) => {
  const template = findTemplate(await openCatalog(host), options.args[0] ?? '')
  const typedValues = readValues(template, options)
  if (options.has('print'))
    return printPlan(await plan(template, { values: typedValues, options, host }), options, host)
  await using attached = await attachServers(host, signal)
  const agent = readAgentOption(options)
  const entries = (await readServers(attached.dispatch, agent, signal)).map(({ entry }) => entry)
  const installed = pickInstalled(findInstalledServers(entries, template), options.value('name'))
  if (installed && !options.has('update')) {
    refuseOtherValues({ template, installed, agent }, toFullValues(template, typedValues, host))
    return printInstalled({ template, installed, agent }, options, host)
  }
  if (options.has('update')) refuseUpdate({ template, installed, agent })
  else refuseTakenName(agent, entries, options.value('name') ?? template.id)
  const values = new Map([...(installed?.values ?? []), ...typedValues])
  const request = { values, name: installed?.name, options, host }
  const { missing } = await plan(template, request) // a wrong parameter is reported before anything is asked
  const stored = options.has('json') ? [] : await askCredentials(missing, host, signal)
  const installation = await plan(template, request)
  const known = entries.find(({ name }) => name === installed?.name)
  const entry = known ? keepHiddenValues(installation.entry, known) : installation.entry
  const isReady = installation.status === 'ready'
  const change = { options, host, entry, create: !known, skipsStart: !isReady }
  const tools = await writeEntry(attached, change, signal).catch((reason: unknown) => {
    if (stored.length > 0)
      host.stderr.write(
        `crabtalk: the vault keeps ${stored.join(', ')}; crabtalk vault remove NAME removes it\n`,
      )
    throw reason
  })
  return printInstallation({ template, installation, agent, tools }, options, host)
}

interface PlanRequest {
  values: ReadonlyMap<string, readonly string[]>
  /** The name of the entry that is replaced. */
  name?: string | undefined
  options: ParsedOptions
  host: Host
}

async function plan(
  template: Template,
  { values, name, options, host }: PlanRequest,
): Promise<PlannedServer> {
  return planInstallation(template, {
    name: name ?? options.value('name'),
    agent: readAgentOption(options),
    values: toFullValues(template, values, host),
    places: await findInstallPlaces(host, host.cwd()),
    available: await findAvailable(template, host),
  })
}

function toFullValues(
  template: Template,
  values: PlanRequest['values'],
  host: Host,
): ReadonlyMap<string, readonly string[]> {
  return toAbsoluteValues(template, values, { cwd: host.cwd(), homeDir: host.homeDir })
}

/** Reads `NAME=VALUE` words; a name that is repeated has several values. */
function readValues({ id }: Template, options: ParsedOptions): Map<string, readonly string[]> {
  const values = new Map<string, readonly string[]>()
  for (const word of options.args.slice(1)) {
    const at = word.indexOf('=')
    if (at <= 0) {
      throw new CrabError('usage', `Cannot use "${word}": write a parameter as NAME=VALUE`, {
        hint: `crabtalk mcp info ${id} lists the parameters`,
      })
    }
    const name = word.slice(0, at)
    values.set(name, [...(values.get(name) ?? []), word.slice(at + 1)])
  }
  return values
}

/** Returns the server of that name; without a name, any. */
function pickInstalled(
  installed: readonly InstalledServer[],
  name: string | undefined,
): InstalledServer | undefined {
  return installed.find((one) => name === undefined || one.name === name)
}

interface KnownServer {
  template: Template
  installed: InstalledServer | undefined
  agent: string
}

/** Refuses values that the installed server does not have: they would be ignored. */
function refuseOtherValues(
  { template: { id }, installed, agent }: KnownServer & { installed: InstalledServer },
  values: PlanRequest['values'],
): void {
  const other = [...values].find(([name, texts]) => String(installed.values.get(name)) !== String(texts))
  if (!other) return
  const [name, texts] = other
  const words = texts.map((text) => `${name}=${text}`).join(' ')
  const known = installed.values.get(name)?.join(', ')
  const why = `${agent} has it as ${installed.name}${known === undefined ? '' : ` with ${name}=${known}`}`
  throw new CrabError('conflict', `Cannot install ${id} with ${words}: ${why}`, {
    hint: `add --name NAME for a second server, or --update to change ${installed.name}`,
  })
}

function refuseUpdate({ template: { id }, installed, agent }: KnownServer): void {
  const what = `Cannot update ${installed?.name ?? id} of ${agent}`
  if (!installed)
    throw new CrabError('missing', `${what}: it is not installed`, { hint: `crabtalk mcp install ${id}` })
  if (!installed.isEdited) return
  throw new CrabError('conflict', `${what}: its entry was changed since it was installed`, {
    hint: `crabtalk mcp install ${id} --print shows the entry of the catalog; crabtalk mcp set changes single keys`,
  })
}

/** Asks for missing credentials at a terminal, and stores what the user types in the vault. */
async function askCredentials(
  missing: readonly MissingStep[],
  host: Host,
  signal: AbortSignal,
): Promise<string[]> {
  const secrets: Record<string, string> = {}
  for (const { name, label, help, url } of missing) {
    if (name === 'login' || !host.screen()) continue
    const about = [help, url].filter((text) => text !== undefined).join(': ')
    const typed = await askSecret(
      sanitize(`${about}\n${label}, ${name} (not shown; Enter to set it later): `),
      host,
    )
    if (typed !== undefined && typed !== '') secrets[name] = typed
  }
  const names = Object.keys(secrets)
  if (names.length === 0) return names
  await using home = await openVaultHome(host)
  const { vault } = await openOrCreateVault(home, signal)
  await vault.set(secrets, signal)
  return names
}

function printPlan({ status, entry, missing }: PlannedServer, options: ParsedOptions, host: Host): number {
  if (options.has('json')) return printJson(host, { status, entry, missing: missing.map(toJsonStep) })
  host.stdout.write(sanitize(renderToml({ mcps: [entry] })))
  for (const step of missing) host.stderr.write(sanitize(`${describeStep(step).join('\n')}\n`))
  return 0
}

function printInstalled(
  { template, installed, agent }: KnownServer & { installed: InstalledServer },
  options: ParsedOptions,
  host: Host,
): number {
  const { name, isCurrent, isEdited } = installed
  if (options.has('json')) {
    return printJson(host, { agent, name, status: 'installed', is_current: isCurrent, is_edited: isEdited })
  }
  host.stdout.write(sanitize(`${template.id} is already installed: ${agent} has it as ${name}\n`))
  if (isCurrent) return 0
  const advice = isEdited
    ? `you changed its entry, which stays as it is; crabtalk mcp install ${template.id} --print shows the new one`
    : `crabtalk mcp install ${template.id} --update replaces its entry`
  host.stderr.write(sanitize(`The catalog has a newer version: ${advice}\n`))
  return 0
}

interface FinishedInstallation {
  template: Template
  installation: PlannedServer
  agent: string
  tools: number | undefined
}

function printInstallation(
  { template, installation, agent, tools }: FinishedInstallation,
  options: ParsedOptions,
  host: Host,
): number {
  const { entry, status, missing } = installation
  const { name } = entry
  if (options.has('json')) {
    return printJson(host, { agent, name, status, tools: tools ?? null, missing: missing.map(toJsonStep) })
  }
  const count = tools === undefined ? '' : `: ${pluralize(tools, 'tool')}`
  const verb = options.has('update') ? 'updated' : 'installed'
  const lines = [
    `${verb} ${name}${count}`,
    `  ${describeTarget(entry)}`,
    ...(template.setup === undefined ? [] : [`  ${template.setup}`]),
    ...(missing.length > 0 ? [`${name} cannot be used yet:`, ...missing.flatMap(describeStep)] : []),
  ]
  host.stdout.write(sanitize(`${lines.join('\n')}\n`))
  return 0
}

function describeStep({ label, help, url, command }: MissingStep): string[] {
  const about = [label, help].filter((text) => text !== undefined).join('. ')
  return [`  ${command}`, `    ${about}${url === undefined ? '' : `: ${url}`}`]
}

function toJsonStep({ name, label, help, url, command }: MissingStep): object {
  return { name, label, help: help ?? null, url: url ?? null, command }
}
