import { access } from 'node:fs/promises'
import { findProblems } from '../../core/config/describe.ts'
import { formatPlace } from '../../core/config/problem.ts'
import { type Check, counted, note, ok, problem } from './check.ts'

/** What `config check` finds in config.toml and the agent files. */
export const checkConfiguration: Check = async ({ paths, agents }) => {
  const problems = await findProblems(paths)
  const isThere = await access(paths.config).then(
    () => true,
    () => false, // none is needed
  )
  if (problems.length > 0)
    return problems.map((one) => problem(`${formatPlace(one)}: ${one.message}`, one.hint))
  return [
    isThere ? ok(`${paths.config} is right`) : note(`there is no ${paths.config}, and none is needed`),
    agents.length > 0
      ? ok(`${counted(agents.length, 'agent file')}: ${agents.map(({ name }) => name).join(', ')}`)
      : note('no agent file yet; the default agent is crab'),
  ]
}
