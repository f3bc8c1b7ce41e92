import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { JsonObject } from '../../core/base/message.ts'
import { type AgentConfig, foldName } from '../../core/config/agent-schema.ts'
import type { AgentStore } from '../../core/config/agents.ts'
import { DEFAULT_AGENT } from '../../core/config/default-name.ts'
import { redact } from '../../core/config/secrets.ts'
import { formatIssue } from '../../core/config/validation-issue.ts'
import type { CronFile } from '../../core/cron/cron-file.ts'
import type {
  AgentInfo,
  AgentList,
  CreateAgentMsg,
  RenameAgentMsg,
  UpdateAgentMsg,
} from '../../core/protocol/crabtalk.generated.ts'
import { turnLeaseName } from '../../core/runtime/leased-conversation.ts'
import type { TokenFile } from '../../core/tokens/token-file.ts'
import type { Services } from '../services.ts'
import { readObject } from './json-text.ts'
import { turnConflict } from './turn-conflict.ts'

/** Handles `list_agents`: returns the agents by name, and the issues of files that are not valid agents. */
export async function listAgents(store: AgentStore): Promise<AgentList> {
  const { agents, problems } = await store.list()
  return {
    agents: agents.map(toAgentInfo),
    problems: problems.map(formatIssue),
  }
}

/** Handles `get_agent`; an empty name means the default agent. */
export async function getAgent(store: AgentStore, name: string): Promise<AgentInfo> {
  return toAgentInfo(await store.get(name || DEFAULT_AGENT))
}

/** Handles `create_agent`; `config` is a JSON object with the keys of an agent file, or empty. */
export async function createAgent(
  store: AgentStore,
  { name, config, prompt }: CreateAgentMsg,
): Promise<AgentInfo> {
  return toAgentInfo(await store.create(name, readConfig(config), prompt))
}

/**
 * Handles `update_agent`; `config` is a JSON merge patch (RFC 7396), and an empty prompt keeps the current
 * one.
 */
export async function updateAgent(
  store: AgentStore,
  { name, config, prompt }: UpdateAgentMsg,
): Promise<AgentInfo> {
  return toAgentInfo(await store.update(name, readConfig(config), prompt === '' ? undefined : prompt))
}

/**
 * Handles `rename_agent`: keeps the id and the conversations, and moves memory, subscriptions, schedules and
 * tokens to the new name.
 */
export async function renameAgent(
  services: Pick<Services, 'node' | 'agents' | 'stores' | 'memory' | 'subscriptions'>,
  { oldName, newName }: RenameAgentMsg,
  signal: AbortSignal,
): Promise<AgentInfo> {
  const { agents, memory, subscriptions } = services
  const { problem } = await subscriptions.read()
  const crons = await openCrons(services)
  const broken = problem ?? (await crons?.read())?.broken
  if (broken) throw broken // before anything is changed
  const rename = () => agents.rename(oldName, newName)
  const own = await agents.idOf(oldName)
  const others = (await agents.list()).agents.filter(({ id }) => id !== own)
  // memory.rename() would hide that conflict
  const isTaken = others.some(({ name }) => foldName(name) === foldName(newName))
  const renamed = isTaken ? await rename() : await memory.rename(oldName, newName, rename, signal)
  await subscriptions.renameAgent(oldName.normalize('NFC'), renamed.name, signal)
  await crons?.renameAgent(oldName.normalize('NFC'), renamed.name, signal)
  await withTokens(services, ({ renameTokenAgent }, file) =>
    renameTokenAgent(file, { from: oldName, to: renamed.name }, signal),
  )
  return toAgentInfo(renamed)
}

/** Changes the tokens of TCP clients, if there are any. */
async function withTokens(
  { node, stores }: Pick<Services, 'node' | 'stores'>,
  change: (tokens: typeof import('../../core/tokens/token-file.ts'), file: TokenFile) => Promise<void>,
): Promise<void> {
  const { run } = node.paths
  if (!existsSync(join(run, 'tokens.json'))) return
  const lock = (resource: string, signal: AbortSignal) => stores.leases.take(resource, signal)
  await change(await import('../../core/tokens/token-file.ts'), { run, lock })
}

/** Opens the file of schedules if it exists; the daemon itself does not use it. */
async function openCrons({ node, stores }: Pick<Services, 'node' | 'stores'>): Promise<CronFile | undefined> {
  const path = node.paths.crons
  if (!existsSync(path)) return undefined
  const { CronFile } = await import('../../core/cron/cron-file.ts')
  return new CronFile({ path, lock: (resource, signal) => stores.leases.take(resource, signal) })
}

/**
 * Handles `delete_agent`: keeps conversations, and removes the tokens that are limited to this agent. Fails
 * with `conflict` while a turn of the agent runs.
 */
export async function deleteAgent(
  services: Pick<Services, 'node' | 'agents' | 'stores' | 'running' | 'findHolder' | 'agentSync'>,
  name: string,
  signal: AbortSignal,
): Promise<void> {
  const { agents, stores, findHolder, running, node, agentSync } = services
  const conflict = (pid: number | undefined) =>
    turnConflict(services, `Cannot delete the agent "${name}"`, {
      pid,
      runs: ({ pair }) => pair.agentId === agentId,
    })
  const agentId = await agents.idOf(name)
  if (running.hasAgent(agentId)) throw conflict(node.pid)
  for (const session of await stores.storage.listSessions({ agentId })) {
    const holder = await findHolder(turnLeaseName(session.id))
    if (holder) throw conflict(holder.pid)
  }
  await agents.delete(name)
  await agentSync.gone(agentId)
  await withTokens(services, ({ removeAgentTokens }, file) => removeAgentTokens(file, name, signal))
}

function toAgentInfo(agent: AgentConfig): AgentInfo {
  const { name, prompt, invalidMcps: _, ...config } = redact(agent)
  return {
    id: agent.id,
    name,
    prompt,
    description: agent.description,
    config: JSON.stringify(config),
    model: agent.model ?? '',
    maxIterations: agent.max_iterations,
    thinking: agent.thinking,
    skills: agent.skills,
    mcps: agent.mcps.map((entry) => entry.name),
    compactToolMaxLen: 0,
  }
}

function readConfig(text: string): JsonObject {
  return text.trim() === '' ? {} : readObject("Cannot read the agent's configuration", text)
}
