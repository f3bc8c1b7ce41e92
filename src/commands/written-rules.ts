import type { Host } from '../cli/host.ts'
import { readAgentFiles, toAgent } from '../core/config/agent-files.ts'
import { listEntryIndexes } from '../core/config/agent-schema.ts'
import { entryRules } from '../core/config/entry-rules.ts'
import { readConfig } from '../core/config/load-config.ts'
import type { HomePaths } from '../core/config/paths.ts'
import { type PermissionRule, toRules } from '../core/config/permissions.ts'
import type { KeyPath } from '../core/config/validation-issue.ts'
import { findIdleRules } from '../daemon/idle-rules/find-idle-rules.ts'
import type { IdleRule } from '../daemon/idle-rules/idle-rule.ts'
import { installedServices } from '../up/packages/installed.ts'

/** Collects the rules of config.toml and of every valid agent file, each with its location. */
export async function collectWrittenRules(paths: HomePaths): Promise<PermissionRule[]> {
  const [config, files] = await Promise.all([readConfig(paths), readAgentFiles(paths.agents)])
  const ofAgents = await Promise.all(
    files.map(async (file) => {
      const [agent, { document }] = [await toAgent(file), file]
      if (!agent.ok || !document.ok) return []
      const place = (path: KeyPath) => `${document.value.file}:${document.value.lineOf(path)}`
      const { permissions, mcps } = agent.value
      const indexes = listEntryIndexes(agent.value)
      const ofServers = mcps.flatMap((entry, i) =>
        entryRules(entry, (path) => place(['mcps', indexes[i]!, ...path])),
      )
      return [...toRules(permissions, place), ...ofServers]
    }),
  )
  return [...(config.ok ? config.value.permissions : []), ...ofAgents.flat()]
}

/** Finds the rules that match nothing, as seen from the working directory. */
export async function findIdleRulesHere(
  paths: HomePaths,
  { cwd, homeDir }: Pick<Host, 'cwd' | 'homeDir'>,
): Promise<IdleRule[]> {
  const installed = readInstalledNames(paths)
  return await findIdleRules({ paths, installed }, { workspace: cwd(), homeDir })
}

/** Returns the names of the installed components. */
export function readInstalledNames(paths: HomePaths): string[] {
  return installedServices(paths).map(({ name }) => name)
}
