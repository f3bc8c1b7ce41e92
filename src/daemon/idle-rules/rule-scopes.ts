import { type IdentifiedFile, readAgentFiles, toAgent } from '../../core/config/agent-files.ts'
import { readConfig } from '../../core/config/load-config.ts'
import type { HomePaths } from '../../core/config/paths.ts'
import { type PermissionRule, toRules } from '../../core/config/permissions.ts'
import type { KeyPath } from '../../core/config/validation-issue.ts'
import { readPortFiles } from '../components/port-files.ts'

/** An MCP server of an agent; a component belongs to every agent, and has no agent here. */
export interface KnownServer {
  agent: string | undefined
  name: string
}

/** A name in an agent's `tools`, with its location. */
export interface NamedTool {
  name: string
  source: string
}

/** The rules of one file, and the servers whose tools they may refer to. */
export interface RuleScope {
  /** The agent of the file; undefined for config.toml, whose rules apply to every agent. */
  agent: string | undefined
  rules: readonly PermissionRule[]
  tools: readonly NamedTool[]
  servers: readonly KnownServer[]
}

/**
 * Reads the rules of config.toml and of the valid agent files, without those of MCP entries. Starts nothing.
 * `installed` has the names of the installed components.
 */
export async function readRuleScopes(paths: HomePaths, installed: readonly string[]): Promise<RuleScope[]> {
  const [config, files] = await Promise.all([readConfig(paths), readAgentFiles(paths.agents)])
  const components = componentNames(paths, installed).map((name) => ({ agent: undefined, name }))
  const agents = (await Promise.all(files.map(readAgentScope))).flat()
  const ofAll = [...agents.flatMap(({ servers }) => servers), ...components]
  const rules = config.ok ? config.value.permissions : []
  return [
    { agent: undefined, rules, tools: [], servers: ofAll },
    ...agents.map((scope) => ({ ...scope, servers: [...scope.servers, ...components] })),
  ]
}

async function readAgentScope(file: IdentifiedFile): Promise<RuleScope[]> {
  const [agent, { document }] = [await toAgent(file), file]
  if (!agent.ok || !document.ok) return []
  const place = (path: KeyPath) => `${document.value.file}:${document.value.lineOf(path)}`
  const { name, permissions, mcps, tools, components } = agent.value
  const named = Array.isArray(components) ? components : []
  return [
    {
      agent: name,
      rules: toRules(permissions, place),
      tools: tools.map((tool, i) => ({ name: tool, source: place(['tools', i]) })),
      servers: [...mcps.map((entry) => entry.name), ...named].map((server) => ({
        agent: name,
        name: server,
      })),
    },
  ]
}

function componentNames({ run }: HomePaths, installed: readonly string[]): string[] {
  return [...new Set([...readPortFiles(run).map(({ name }) => name), ...installed])]
}
