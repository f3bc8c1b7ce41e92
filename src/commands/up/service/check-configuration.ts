import { findProblems } from '../../../core/config/describe.ts'
import { loadConfig } from '../../../core/config/load-config.ts'
import { formatPlace } from '../../../core/config/problem.ts'
import type { OpenService } from './open-service.ts'

/**
 * Looks whether a service inside this program can start with the configuration as it is, before anything is changed. Fails
 * with `config`, naming file and line; what keeps only an agent from working is a warning.
 */
export async function checkConfiguration({ service, paths, host }: OpenService): Promise<void> {
  if (!('words' in service.run)) return // a component reads none of it
  await loadConfig(paths)
  for (const problem of await findProblems(paths)) {
    host.stderr.write(`crabup: ${formatPlace(problem)}: ${problem.message}\n`)
  }
}
