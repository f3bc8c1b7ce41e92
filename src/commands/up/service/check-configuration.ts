import { findProblems } from '../../../core/config/describe.ts'
import { loadConfig } from '../../../core/config/load-config.ts'
import type { HomePaths } from '../../../core/config/paths.ts'
import { formatPlace, type Problem } from '../../../core/config/problem.ts'
import type { OpenService } from './open-service.ts'

/**
 * Looks whether a service inside this program can start with the configuration as it is, before anything is changed. Fails
 * with `config`, naming file and line; what keeps only an agent from working is a warning.
 */
export async function checkConfiguration({ service, paths, host }: OpenService): Promise<void> {
  if (!('words' in service.run)) return // a component reads none of it
  await loadConfig(paths)
  const problems = [...(await findProblems(paths)), ...(service.name === 'cron' ? await inCrons(paths) : [])]
  for (const problem of problems) {
    host.stderr.write(`crabup: ${formatPlace(problem)}: ${problem.message}\n`)
  }
}

/** Entries that cannot fire. Fails with `config` where none could. */
async function inCrons({ crons }: HomePaths): Promise<readonly Problem[]> {
  const { lookAtCrons } = await import('../../../core/cron/cron-file.ts')
  const { broken, problems } = await lookAtCrons(crons)
  if (broken) throw broken
  return problems
}
