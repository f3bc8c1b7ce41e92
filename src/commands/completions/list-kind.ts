import { relativeTime } from '../../core/base/relative-time.ts'
import { readAgentFiles } from '../../core/config/agent-files.ts'
import { DEFAULT_DESCRIPTION } from '../../core/config/default-agent.ts'
import { DEFAULT_AGENT } from '../../core/config/default-name.ts'
import { loadConfig } from '../../core/config/load-config.ts'
import { readMcpEntries } from '../../core/config/mcp-declaration.ts'
import type { HomePaths } from '../../core/config/paths.ts'
import { shortId } from '../conversation/find.ts'
import type { Host } from '../host.ts'
import { resolvePaths } from '../paths.ts'
import type { SessionListing } from './sessions.ts'
import type { ListedKind, WordCompletion } from './suggest.ts'

/** Whose names are listed. */
interface ListingContext {
  host: Host
  /** The agent that the command line names. */
  agent: string | undefined
  /** How a name must begin to be of use; others may be listed, too. */
  typed: string
}

/**
 * What is there of a kind, read from the disk; models are asked of their servers, what goes on of the daemon. Changes nothing. When the signal ends it,
 * the names that were found by then.
 */
export async function listKind(
  kind: ListedKind,
  { host, agent = DEFAULT_AGENT, typed }: ListingContext,
  signal: AbortSignal,
): Promise<WordCompletion[]> {
  const paths = resolvePaths(host)
  switch (kind) {
    case 'agent':
      return await agents(paths)
    case 'server':
      return await servers(paths, agent)
    case 'rule':
      return [...TOOLS, ...(await servers(paths, agent)).map(toRule)]
    case 'model':
      return await models(paths, host, signal)
    case 'conversation':
      return await conversations(paths, typed, signal)
    case 'sender':
      return await senders(paths, signal)
    case 'address':
      return await addresses(paths, signal)
    case 'cron':
      return await (await import('./cron-entries.ts')).completeCronEntries(paths)
    case 'ask':
      return await (await import('./live.ts')).completeAsks(host, signal)
    case 'run':
      return await (await import('./live.ts')).completeRuns(host, signal)
    case 'service':
      return await services(host)
    case 'memory':
      return await (await import('./memory-names.ts')).completeMemoryNames(paths.memory, agent)
    case 'skill':
      return await skills(paths, host)
    case 'token':
      return await tokens(paths)
  }
}

async function agents(paths: HomePaths): Promise<WordCompletion[]> {
  const files = await readAgentFiles(paths.agents)
  const found = files.map(({ name, document }) => {
    const description = document.ok ? document.value.table['description'] : undefined
    return { value: name, description: typeof description === 'string' ? description : '' }
  })
  if (found.some(({ value }) => value === DEFAULT_AGENT)) return found
  return [{ value: DEFAULT_AGENT, description: DEFAULT_DESCRIPTION }, ...found]
}

async function servers(paths: HomePaths, agent: string): Promise<WordCompletion[]> {
  const file = (await readAgentFiles(paths.agents)).find(({ name }) => name === agent)
  const entries = file?.document.ok ? readMcpEntries(file.document.value.table) : []
  return entries.map(({ name, disabled }) => ({
    value: String(name),
    description: disabled === true ? 'disabled' : '',
  }))
}

/** What those have that can be asked in time; else those that are known without asking. */
async function models(paths: HomePaths, { env }: Host, signal: AbortSignal): Promise<WordCompletion[]> {
  const { openModels } = await import('../../core/provider/discover.ts')
  const registry = await openModels({ config: await loadConfig(paths), env }, signal)
  const all = await Promise.race([
    registry.listAll(signal).then(({ models }) => models),
    new Promise<undefined>((resolve) => signal.addEventListener('abort', () => resolve(undefined))),
  ])
  return (all ?? registry.list()).map(({ name, provider }) => ({ value: name, description: provider }))
}

/** The last used first. */
async function conversations(
  paths: HomePaths,
  typed: string,
  signal: AbortSignal,
): Promise<WordCompletion[]> {
  const { lastSessions } = await import('./sessions.ts')
  const isWanted = (id: string) => shortId(id).startsWith(typed)
  const found: WordCompletion[] = []
  for await (const one of lastSessions({ paths, isWanted }, signal)) {
    found.push({ value: shortId(one.id), description: describeSession(one) })
    if (found.length === MAX_CONVERSATIONS) break
  }
  return found
}

/** Names that somebody gave, with what each said last; those of single runs are no use to anybody. */
async function senders(paths: HomePaths, signal: AbortSignal): Promise<WordCompletion[]> {
  return await listLatest(paths, ({ sender }) => sender, signal)
}

/** Conversations as AGENT/SENDER. */
async function addresses(paths: HomePaths, signal: AbortSignal): Promise<WordCompletion[]> {
  return await listLatest(paths, ({ agent, sender }) => `${agent}/${sender}`, signal)
}

async function listLatest(
  paths: HomePaths,
  nameOf: (one: SessionListing) => string,
  signal: AbortSignal,
): Promise<WordCompletion[]> {
  const { lastSessions } = await import('./sessions.ts')
  const found = new Map<string, string>()
  for await (const one of lastSessions({ paths, isWanted: () => true }, signal)) {
    const isNamed = !one.sender.startsWith('sh:')
    if (isNamed && !found.has(nameOf(one))) found.set(nameOf(one), describeSession(one))
  }
  return [...found].map(([value, description]) => ({ value, description }))
}

function describeSession({ agent, title, preview, updatedAt }: SessionListing): string {
  return `${relativeTime(updatedAt, Date.now())}, ${agent}: ${title || preview}`
}

async function services(host: Host): Promise<WordCompletion[]> {
  const { serviceNames } = await import('../up/service/names.ts')
  return (await serviceNames(host)).map(({ name, description }) => ({ value: name, description }))
}

async function skills(paths: HomePaths, { homeDir }: Host): Promise<WordCompletion[]> {
  const { scanSkills } = await import('../../core/skills/scan-skills.ts')
  const { skillRoots } = await import('../../core/skills/skill-roots.ts')
  const { skills } = await scanSkills(skillRoots(paths, homeDir, await loadConfig(paths)))
  return skills.map(({ name, description }) => ({ value: name, description }))
}

async function tokens({ run }: HomePaths): Promise<WordCompletion[]> {
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
