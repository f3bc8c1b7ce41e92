import { CrabError } from '../../core/base/errors.ts'
import type { AgentConfig } from '../../core/config/agent-schema.ts'
import { joinedEntries } from './components.ts'

/** Throws `invalid` where a server that is to be changed comes from a port file and stands in no agent's. */
export function refuseComponent(what: string, built: AgentConfig, name: unknown): void {
  const entry = joinedEntries(built).find((one) => one.name === name)
  if (entry !== undefined) throw isFromPortFile(what, built.name, entry.name)
}

/** Why a component cannot be changed like a server of an agent's file. */
export function isFromPortFile(what: string, agent: string, name: string): CrabError {
  const file = `agents/${agent}.toml`
  return new CrabError('invalid', `${what}: it comes from the port file run/${name}.port, not from ${file}`, {
    hint: `end the component, or change "components" in ${file}; a server of that name in the file comes before it`,
  })
}
