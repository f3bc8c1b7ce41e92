import { homedir } from 'node:os'
import { relativeTime } from '../../core/base/relative-time.ts'
import { readAgentFiles } from '../../core/config/agent-files.ts'
import { DEFAULT_DESCRIPTION } from '../../core/config/default-agent.ts'
import { DEFAULT_AGENT } from '../../core/config/default-name.ts'
import { loadConfig } from '../../core/config/load-config.ts'
import { entriesOf } from '../../core/config/mcp-declaration.ts'
import { type HomePaths, homePaths } from '../../core/config/paths.ts'
import type { SessionSummary } from '../../core/storage/types.ts'
import { shortId } from '../conversation/find.ts'
import type { Host } from '../host.ts'
import type { Candidate, ListedKind } from './suggest.ts'

/** Whose names are listed. */
interface Place {
  host: Host
  /** The agent that the command line names. */
  agent: string | undefined
}

/** Everything of a kind that is there, read from the disk; models are asked of their servers. Changes nothing. */
export async function listKind(
  kind: ListedKind,
  { host, agent = DEFAULT_AGENT }: Place,
  signal: AbortSignal,
): Promise<Candidate[]> {
  const paths = homePaths(host.env, { cwd: host.cwd(), homeDir: homedir() })
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
      return (await sessions(paths)).map((one) => ({ value: shortId(one.id), description: whatOf(one) }))
    case 'sender':
      return senders(await sessions(paths))
  }
}

async function agents(paths: HomePaths): Promise<Candidate[]> {
  const files = await readAgentFiles(paths.agents)
  const found = files.map(({ name, document }) => {
    const description = document.ok ? document.value.table['description'] : undefined
    return { value: name, description: typeof description === 'string' ? description : '' }
  })
  if (found.some(({ value }) => value === DEFAULT_AGENT)) return found
  return [{ value: DEFAULT_AGENT, description: DEFAULT_DESCRIPTION }, ...found]
}

async function servers(paths: HomePaths, agent: string): Promise<Candidate[]> {
  const file = (await readAgentFiles(paths.agents)).find(({ name }) => name === agent)
  const entries = file?.document.ok ? entriesOf(file.document.value.table) : []
  return entries.map(({ name, disabled }) => ({
    value: String(name),
    description: disabled === true ? 'disabled' : '',
  }))
}

/** What those have that can be asked in time; else those that are known without asking. */
async function models(paths: HomePaths, { env }: Host, signal: AbortSignal): Promise<Candidate[]> {
  const { openModels } = await import('../../core/provider/discover.ts')
  const registry = await openModels({ config: await loadConfig(paths), env }, signal)
  const all = await Promise.race([
    registry.listAll(signal).then(({ models }) => models),
    new Promise<undefined>((resolve) => signal.addEventListener('abort', () => resolve(undefined))),
  ])
  return (all ?? registry.list()).map(({ name, provider }) => ({ value: name, description: provider }))
}

/** Newest first. */
async function sessions({ sessions: folder, index }: HomePaths): Promise<SessionSummary[]> {
  const { DiskStorage } = await import('../../core/storage/disk-storage.ts')
  const found = await new DiskStorage({ sessions: folder, index }).listSessions({})
  return found.toSorted((a, b) => (a.updatedAt < b.updatedAt ? 1 : -1))
}

/** Names that somebody gave; those of single runs are no use to anybody. */
function senders(found: readonly SessionSummary[]): Candidate[] {
  const named = found.filter(({ sender }) => !sender.startsWith('sh:'))
  const newest = new Map(named.toReversed().map((one) => [one.sender, one]))
  return [...newest].map(([value, one]) => ({ value, description: whatOf(one) }))
}

function whatOf({ agent, title, preview, updatedAt }: SessionSummary): string {
  return `${relativeTime(updatedAt, Date.now())}, ${agent}: ${title || preview}`
}

function toRule({ value }: Candidate): Candidate {
  return { value: `mcp__${value}__*`, description: `every tool of ${value}` }
}

const TOOLS: readonly Candidate[] = [
  { value: 'bash', description: 'run commands; bash(npm *) only those' },
  { value: 'edit', description: 'change files in the working directory; edit(src/**) only those' },
  { value: 'write', description: 'write files in the working directory' },
  { value: 'read', description: 'read files; read(/etc/**) only those' },
  { value: 'glob', description: 'find files' },
  { value: 'grep', description: 'search in files' },
]
