import { CrabError } from '../../core/base/errors.ts'
import type { AgentConfig } from '../../core/config/agent-schema.ts'
import { joinedEntries } from './components.ts'

/** Throws `invalid` where a server that is to be changed comes from a port file and stands in no agent's. */
export function refuseComponent(what: string, built: AgentConfig, name: unknown): void {
  const entry = joinedEntries(built).find((one) => one.name === name)
  if (entry === undefined) return
  const file = `agents/${built.name}.toml`
  throw new CrabError(
    'invalid',
    `${what}: it comes from the port file run/${entry.name}.port, not from ${file}`,
    {
      hint: `end the component, or change "components" in ${file}; a server of that name in the file comes before it`,
    },
  )
}
