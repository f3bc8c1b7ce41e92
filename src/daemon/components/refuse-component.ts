import { CrabError } from '../../core/base/errors.ts'
import type { AgentConfig } from '../../core/config/agent-schema.ts'
import { portFileError } from '../../core/config/mcp-declaration.ts'
import { toBuiltAgent } from '../built-agent.ts'
import type { Services } from '../services.ts'
import { joinedEntries } from './components.ts'

/** Throws `invalid` when the server to be changed comes from a port file instead of the agent's file. */
export function refuseComponent(
  services: Pick<Services, 'components' | 'hook'>,
  what: string,
  { agent, name }: { agent: AgentConfig; name: unknown },
): void {
  const joined = [...joinedEntries(toBuiltAgent(services, agent)), ...services.components.missing(agent)]
  const found = joined.find((one) => one.name === name)
  if (found !== undefined) throw portFileError(what, agent.name, found.name)
}

/** Throws `unavailable` for a component that an agent asks for and whose port file is missing or unusable. */
export function refuseMissing(
  { components }: Pick<Services, 'components'>,
  agent: AgentConfig,
  name: string,
): void {
  const found = components.missing(agent).find((one) => one.name === name)
  if (found === undefined) return
  throw new CrabError('unavailable', `Cannot use the server "${name}": ${found.file}: ${found.problem}`, {
    hint: 'start the component: it writes that file',
  })
}
