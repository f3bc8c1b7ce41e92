import { access } from 'node:fs/promises'
import { type Check, note, ok, problem, warning } from '../../cli/check.ts'
import { toCrabError } from '../../core/base/errors.ts'
import { pluralize } from '../../core/base/format.ts'
import { findProblems, findWarnings } from '../../core/config/find-problems.ts'
import { formatLocation } from '../../core/config/validation-issue.ts'
import { loadCrons } from '../../core/cron/cron-file.ts'
import { readTrust } from '../../core/trust/trust-store.ts'

/**
 * Reports the issues that `config check` finds in config.toml and the agent files, errors in trust.toml, and
 * reasons why schedules do not fire.
 */
export const checkConfiguration: Check = async ({ paths, agents }) => {
  const problems = await findProblems(paths)
  const { broken, problems: inCrons } = await loadCrons(paths.crons)
  const isThere = await access(paths.config).then(
    () => true,
    () => false, // it is optional
  )
  const issues = [...problems, ...inCrons].map((one) =>
    problem(`${formatLocation(one)}: ${one.message}`, one.hint),
  )
  if (broken) issues.push(problem(broken.message, broken.hint))
  const trustError = await readTrust(paths.trust).then(() => undefined, toCrabError)
  if (trustError)
    issues.push(
      problem(trustError.message, trustError.hint ?? 'until then no instruction files of folders are used'),
    )
  if (issues.length > 0) return issues
  const warnings = await findWarnings(paths)
  return [
    ...warnings.map((one) => warning(`${formatLocation(one)}: ${one.message}`, one.hint)),
    isThere ? ok(`${paths.config} is valid`) : note(`${paths.config} does not exist, and is not needed`),
    agents.length > 0
      ? ok(`${pluralize(agents.length, 'agent file')}: ${agents.map(({ name }) => name).join(', ')}`)
      : note('no agent files yet; the default agent is crab'),
  ]
}
