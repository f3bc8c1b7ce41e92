import type { CommandHandler } from '../../cli/command.ts'
import type { Host } from '../../cli/host.ts'
import { printJson, printTable } from '../../cli/print.ts'
import { sanitize } from '../../core/base/sanitize.ts'
import { formatIssue } from '../../core/config/validation-issue.ts'
import { describeNeeds, findTemplate, searchTemplates } from '../../edge/catalog/catalog.ts'
import type { Template } from '../../edge/catalog/template.ts'
import { attachServers } from './attach-servers.ts'
import { openCatalog } from './catalog-home.ts'
import { readAllServers, type ServerRow } from './servers.ts'

/** Runs `crabtalk mcp catalog`. */
export const listCatalogCommand: CommandHandler = async ({ options, host, signal }) => {
  const { templates, problems } = await openCatalog(host)
  const query = options.args.join(' ')
  const found = query === '' ? templates : searchTemplates(templates, query)
  const servers = await readInstalled(host, signal)
  if (options.has('json'))
    printJson(
      host,
      found.map((template) => toJson(template, servers)),
    )
  else if (found.length > 0) {
    const header = ['ID', 'CATEGORY', 'NEEDS', 'RUNTIME', 'INSTALLED', 'WHAT IT DOES']
    await printTable(
      host,
      header,
      found.map((template) => toRow(template, servers)),
    )
  } else host.stderr.write(sanitize(`No server matches ${query}; crabtalk mcp catalog lists all\n`))
  for (const problem of problems) host.stderr.write(sanitize(`crabtalk: ${formatIssue(problem)}\n`))
  return found.length > 0 || options.has('json') ? 0 : 1
}

/** Runs `crabtalk mcp info`. */
export const showTemplateCommand: CommandHandler = async ({ options, host, signal }) => {
  const template = findTemplate(await openCatalog(host), options.args[0] ?? '')
  const servers = await readInstalled(host, signal)
  if (options.has('json')) return printJson(host, toJson(template, servers))
  host.stdout.write(sanitize(`${toText(template, servers).join('\n')}\n`))
  return 0
}

async function readInstalled(host: Host, signal: AbortSignal): Promise<readonly ServerRow[]> {
  await using attached = await attachServers(host, signal)
  return (await readAllServers(attached.dispatch, signal)).servers
}

/** Returns the agents that have a server of this template. */
function findAgents({ id }: Template, servers: readonly ServerRow[]): string[] {
  const found = servers.filter(({ entry }) => entry.origin?.['catalog'] === id)
  return [...new Set(found.map(({ agent }) => agent))]
}

function toRow(template: Template, servers: readonly ServerRow[]): string[] {
  const { id, category, runtime = [], description } = template
  const agents = findAgents(template, servers)
  return [
    id,
    category,
    describeNeeds(template),
    runtime.join(', ') || '-',
    agents.join(', ') || '-',
    description,
  ]
}

function toJson(template: Template, servers: readonly ServerRow[]): object {
  const {
    tags = [],
    runtime = [],
    parameters = [],
    credentials = [],
    oauth,
    setup,
    homepage,
    ...rest
  } = template
  return {
    ...rest,
    tags,
    runtime,
    homepage: homepage ?? null,
    setup: setup ?? null,
    parameters,
    credentials: credentials.map((one) => ({ ...one, required: one.required !== false })),
    oauth: oauth ?? null,
    agents: findAgents(template, servers),
  }
}

function toText(template: Template, servers: readonly ServerRow[]): string[] {
  const { id, name, description, category, runtime = [], homepage, setup, server } = template
  const { parameters = [], credentials = [], oauth } = template
  const { command, args, url } = server
  const agents = findAgents(template, servers)
  const words = [command, ...(Array.isArray(args) ? args : [])].map(String).join(' ')
  return [
    `${name}: ${description}`,
    '',
    `  category   ${category}`,
    url === undefined ? `  starts     ${words}` : `  address    ${String(url)}`,
    ...(runtime.length > 0 ? [`  runtime    ${runtime.map(describeRuntime).join(', ')}`] : []),
    ...(homepage === undefined ? [] : [`  homepage   ${homepage}`]),
    ...(agents.length > 0 ? [`  installed  ${agents.join(', ')}`] : []),
    ...(oauth ? [`  login      in the browser, with crabtalk mcp login`] : []),
    ...section(
      'Parameters',
      parameters.map((one) => [one.name, describeParameter(one)]),
    ),
    ...section(
      'Credentials',
      credentials.map((one) => [one.name, describeCredential(one)]),
    ),
    ...(setup === undefined ? [] : ['', setup]),
    '',
    `crabtalk mcp install ${id}${parameters.map((one) => (one.default === undefined ? ` ${one.name}=…` : '')).join('')}`,
  ]
}

function section(title: string, rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([name]) => name.length))
  return rows.length === 0
    ? []
    : ['', `${title}:`, ...rows.map(([name, text]) => `  ${name.padEnd(width)}  ${text}`)]
}

function describeParameter({
  label,
  default: initial,
  many,
}: NonNullable<Template['parameters']>[number]): string {
  const notes = [...(many ? ['repeatable'] : []), ...(initial === undefined ? [] : [`default ${initial}`])]
  return `${label}${notes.length > 0 ? ` (${notes.join(', ')})` : ''}`
}

function describeCredential({
  label,
  help,
  url,
  required,
}: NonNullable<Template['credentials']>[number]): string {
  const about = [label, help].filter((text) => text !== undefined).join('. ')
  return `${about}${url === undefined ? '' : `: ${url}`}${required === false ? ' (optional)' : ''}`
}

function describeRuntime(name: string): string {
  const page = RUNTIME_PAGES.get(name)
  return page === undefined ? name : `${name} (${page})`
}

const RUNTIME_PAGES: ReadonlyMap<string, string> = new Map([
  ['node', 'https://nodejs.org'],
  ['uv', 'https://docs.astral.sh/uv/'],
  ['docker', 'https://docs.docker.com/get-docker/'],
])
