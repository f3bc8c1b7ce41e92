import { shortId } from '../../cli/find-conversation.ts'
import type { Host } from '../../cli/host.ts'
import { resolvePaths } from '../../cli/paths.ts'
import { relativeTime } from '../../core/base/relative-time.ts'
import { isWindowSender } from '../../core/base/sender-class.ts'
import type { SessionListing } from '../../core/completion/sessions.ts'
import { readAgentFiles } from '../../core/config/agent-files.ts'
import { DEFAULT_DESCRIPTION } from '../../core/config/default-agent.ts'
import { DEFAULT_AGENT } from '../../core/config/default-name.ts'
import { loadConfig } from '../../core/config/load-config.ts'
import { readMcpEntries } from '../../core/config/mcp-declaration.ts'
import type { HomePaths } from '../../core/config/paths.ts'
import type { ListedKind, WordCompletion } from './suggest.ts'

/** The context in which names are listed. */
interface ListingContext {
  host: Host
  /** The agent named on the command line. */
  agent: string | undefined
  /** The prefix that a name needs to be useful; other names may be listed, too. */
  typed: string
}

/**
 * Lists what exists of a kind, read from disk; models are queried from their servers, pending questions and
 * active runs from the daemon. Changes nothing. When the signal aborts, returns the names found by then.
 */
export async function listKind(
  kind: ListedKind,
  { host, agent = DEFAULT_AGENT, typed }: ListingContext,
  signal: AbortSignal,
): Promise<WordCompletion[]> {
  const paths = resolvePaths(host)
  switch (kind) {
    case 'agent':
      return await completeAgents(paths)
    case 'server':
      return await completeServers(paths, agent)
    case 'rule':
      return [...TOOLS, ...(await completeServers(paths, agent)).map(toRule)]
    case 'model':
      return await completeModels(paths, host, signal)
    case 'conversation':
      return await completeConversations(paths, typed, signal)
    case 'sender':
      return await completeSenders(paths, signal)
    case 'address':
      return await completeAddresses(paths, signal)
    case 'cron':
      return await (await import('./cron-entries.ts')).completeCronEntries(paths)
    case 'ask':
      return await (await import('./live.ts')).completeAsks(host, signal)
    case 'run':
      return await (await import('./live.ts')).completeRuns(host, signal)
    case 'service':
      return await completeServices(host)
    case 'memory':
      return await completeMemoryNames(paths, agent)
    case 'skill':
      return await completeSkills(paths, host)
    case 'template':
      return await completeTemplates(paths)
    case 'token':
      return await completeTokens(paths)
  }
}

async function completeAgents(paths: HomePaths): Promise<WordCompletion[]> {
  const files = await readAgentFiles(paths.agents)
  const found = files.map(({ name, document }) => {
    const description = document.ok ? document.value.table['description'] : undefined
    return { value: name, description: typeof description === 'string' ? description : '' }
  })
  if (found.some(({ value }) => value === DEFAULT_AGENT)) return found
  return [{ value: DEFAULT_AGENT, description: DEFAULT_DESCRIPTION }, ...found]
}

async function completeServers(paths: HomePaths, agent: string): Promise<WordCompletion[]> {
  const file = (await readAgentFiles(paths.agents)).find(({ name }) => name === agent)
  const entries = file?.document.ok ? readMcpEntries(file.document.value.table) : []
  return entries.map(({ name, disabled }) => ({
    value: String(name),
    description: disabled === true ? 'disabled' : '',
  }))
}

/** Returns the servers of the catalog that can be installed. */
async function completeTemplates(paths: HomePaths): Promise<WordCompletion[]> {
  const { readCatalog } = await import('../../edge/catalog/catalog.ts')
  const { templates } = await readCatalog(paths.catalog)
  return templates.map(({ id, description }) => ({ value: id, description }))
}

/** Returns the models of all sources if these answer in time, else those that are known without a query. */
async function completeModels(
  paths: HomePaths,
  { env }: Host,
  signal: AbortSignal,
): Promise<WordCompletion[]> {
  const { listModelNames } = await import('../../core/completion/models.ts')
  const models = await listModelNames({ config: await loadConfig(paths), env }, signal)
  return models.map(({ name, provider }) => ({ value: name, description: provider }))
}

/** Lists the most recently used first. */
async function completeConversations(
  paths: HomePaths,
  typed: string,
  signal: AbortSignal,
): Promise<WordCompletion[]> {
  const { lastSessions } = await import('../../core/completion/sessions.ts')
  const isWanted = (id: string) => shortId(id).startsWith(typed)
  const found: WordCompletion[] = []
  for await (const one of lastSessions({ paths, isWanted }, signal)) {
    found.push({ value: shortId(one.id), description: describeSession(one) })
    if (found.length === MAX_CONVERSATIONS) break
  }
  return found
}

/**
 * Lists the senders that users have named, each with its last message; the senders of single runs are of no
 * use.
 */
async function completeSenders(paths: HomePaths, signal: AbortSignal): Promise<WordCompletion[]> {
  return await listLatest(paths, ({ sender }) => sender, signal)
}

/** Lists conversations as AGENT/SENDER. */
async function completeAddresses(paths: HomePaths, signal: AbortSignal): Promise<WordCompletion[]> {
  return await listLatest(paths, ({ agent, sender }) => `${agent}/${sender}`, signal)
}

async function listLatest(
  paths: HomePaths,
  toName: (one: SessionListing) => string,
  signal: AbortSignal,
): Promise<WordCompletion[]> {
  const { lastSessions } = await import('../../core/completion/sessions.ts')
  const found = new Map<string, string>()
  for await (const one of lastSessions({ paths, isWanted: () => true }, signal)) {
    const isNamed = !isWindowSender(one.sender)
    if (isNamed && !found.has(toName(one))) found.set(toName(one), describeSession(one))
  }
  return [...found].map(([value, description]) => ({ value, description }))
}

function describeSession({ agent, title, preview, updatedAt }: SessionListing): string {
  return `${relativeTime(updatedAt, Date.now())}, ${agent}: ${title || preview}`
}

/** Lists the names and aliases in an agent's memory. */
async function completeMemoryNames({ memory }: HomePaths, agent: string): Promise<WordCompletion[]> {
  const { readStoredMemory } = await import('../../core/completion/memory.ts')
  const { previewContent } = await import('../memory/list.ts')
  return (await readStoredMemory(memory, agent)).flatMap(({ name, aliases, content }) => {
    const description = previewContent(content)
    return [name, ...aliases].map((value) => ({ value, description }))
  })
}

async function completeServices(host: Host): Promise<WordCompletion[]> {
  const { serviceNames } = await import('../up/service/names.ts')
  return (await serviceNames(host)).map(({ name, description }) => ({ value: name, description }))
}

async function completeSkills(paths: HomePaths, { homeDir }: Host): Promise<WordCompletion[]> {
  const { listSkills } = await import('../../core/completion/skills.ts')
  const skills = await listSkills(paths, homeDir, await loadConfig(paths))
  return skills.map(({ name, description }) => ({ value: name, description }))
}

async function completeTokens({ run }: HomePaths): Promise<WordCompletion[]> {
  const { listTokens } = await import('../token/list.ts')
  return (await listTokens(run)).map(({ name, agent }) => ({
    value: name,
    description: agent ?? 'any agent',
  }))
}

function toRule({ value }: WordCompletion): WordCompletion {
  return { value: `mcp__${value}__*`, description: `every tool of ${value}` }
}

const MAX_CONVERSATIONS = 200
const TOOLS: readonly WordCompletion[] = [
  { value: 'bash', description: 'run commands; bash(npm test) only that one' },
  { value: 'edit', description: 'change files in the working directory; edit(src/**) only those' },
  { value: 'write', description: 'write files in the working directory' },
  { value: 'read', description: 'read files; read(/etc/**) only those' },
  { value: 'glob', description: 'find files' },
  { value: 'grep', description: 'search in files' },
]
