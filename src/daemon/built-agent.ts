import { type AgentConfig, listEntryIndexes } from '../core/config/agent-schema.ts'
import { getPortFile } from '../core/config/component.ts'
import type { Services } from './services.ts'

/**
 * Returns an agent as its turns see it: with what hooks add to its file, such as components. Never store the
 * result.
 */
export function toBuiltAgent({ hook }: Pick<Services, 'hook'>, stored: AgentConfig): AgentConfig {
  return hook.onBuildAgent?.(stored) ?? stored
}

/**
 * Returns the source of each server of a built agent: a line of its file, or a port file; both relative to
 * the home.
 */
export async function listServerSources(
  { agents }: Pick<Services, 'agents'>,
  built: AgentConfig,
): Promise<string[]> {
  const paths = listEntryIndexes(built).map((i) => ['mcps', i]) // entries of the file come before joined ones
  const places = await agents.locateKeys(built.name, paths)
  return built.mcps.map((entry, i) => getPortFile(entry) ?? places[i] ?? '')
}
