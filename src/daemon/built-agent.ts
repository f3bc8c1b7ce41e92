import type { AgentConfig } from '../core/config/agent-schema.ts'
import { getPortFile } from '../core/config/component.ts'
import type { Services } from './services.ts'

/** An agent as its turns know it: what hooks add to its file is in it, its components for one. Never to be stored. */
export function toBuiltAgent({ hook }: Pick<Services, 'hook'>, stored: AgentConfig): AgentConfig {
  return hook.onBuildAgent?.(stored) ?? stored
}

/** Where each server of a built agent stands: a line of its file, or a port file; both relative to the home. */
export async function listServerSources(
  { agents }: Pick<Services, 'agents'>,
  built: AgentConfig,
): Promise<string[]> {
  const paths = built.mcps.map((_, i) => ['mcps', i]) // those of the file come first
  const places = await agents.locateKeys(built.name, paths)
  return built.mcps.map((entry, i) => getPortFile(entry) ?? places[i] ?? '')
}
