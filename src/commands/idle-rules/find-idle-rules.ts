import type { Host } from '../../cli/host.ts'
import type { HomePaths } from '../../core/config/paths.ts'
import type { ServerRow } from '../mcp/servers.ts'
import { findIdlePathRules } from './idle-path-rules.ts'
import type { IdleRule } from './idle-rule.ts'
import { findIdleToolRules, findUnlistedTools } from './idle-tool-rules.ts'
import { readRuleScopes } from './rule-scopes.ts'

/** Finds the rules and names of tools that match nothing, as far as that is known without starting a server. */
export async function findIdleRules(
  paths: HomePaths,
  { cwd, homeDir }: Pick<Host, 'cwd' | 'homeDir'>,
): Promise<IdleRule[]> {
  const scopes = await readRuleScopes(paths)
  const place = { workspace: cwd(), homeDir }
  const found = scopes.map(async (scope) => [
    ...findIdleToolRules(scope),
    ...(await findIdlePathRules(scope.rules, place)),
  ])
  return (await Promise.all(found)).flat()
}

/**
 * Finds the rules and names of tools that refer to a known server which, according to its listed tools, has
 * no such tool.
 */
export async function findIdleListedRules(
  paths: HomePaths,
  servers: readonly ServerRow[],
): Promise<IdleRule[]> {
  const listed = servers.flatMap(({ agent, entry, tools }) => {
    return tools ? [{ agent, name: entry.name, tools: tools.map(({ remoteName }) => remoteName) }] : []
  })
  return (await readRuleScopes(paths)).flatMap((scope) => findUnlistedTools(scope, listed))
}
