import type { Host } from '../../../cli/host.ts'
import { parseVariables } from '../../../core/config/env-file-text.ts'
import { findProblems } from '../../../core/config/find-problems.ts'
import { loadConfig, readTextFile } from '../../../core/config/load-config.ts'
import type { HomePaths } from '../../../core/config/paths.ts'
import { configError, type FileIssue, formatLocation } from '../../../core/config/validation-issue.ts'
import type { OpenService } from '../../../up/services/open-service.ts'
import { serviceEnvProblems } from '../../../up/services/service-env.ts'

/**
 * Checks that a service can start with the current configuration, before anything is changed. Throws `config`
 * with file and line; an issue that affects only an agent or a variable is printed as a warning.
 */
export async function requireValidConfiguration({ service, paths, host }: OpenService<Host>): Promise<void> {
  const problems = await findVariableIssues(paths)
  // Components do not read these files.
  if ('words' in service.run) problems.push(...(await findFileIssues(service.name, paths)))
  if (service.name === 'daemon') await warnOfOpenTcp(paths, host)
  for (const problem of problems) {
    const hint = problem.hint === undefined ? '' : ` (${problem.hint})`
    host.stderr.write(`crabup: ${formatLocation(problem)}: ${problem.message}${hint}\n`)
  }
}

/**
 * Warns when the daemon would serve TCP clients without a token; throws `config` when the daemon would refuse
 * to start.
 */
async function warnOfOpenTcp(paths: HomePaths, host: Host): Promise<void> {
  const { daemon } = await loadConfig(paths)
  if (daemon.tcpPort === undefined || daemon.tcpToken) return
  const { isTcpOpen, OPEN_TCP_HINT, OPEN_TCP_WARNING } = await import('../../../daemon/tcp/open-tcp.ts')
  isTcpOpen(daemon, parseVariables((await readTextFile(paths.serviceEnv)) ?? ''))
  host.stderr.write(`crabup: warning: ${OPEN_TCP_WARNING} (${OPEN_TCP_HINT})\n`)
}

/** Throws `config` when service.env would move the service to another home. */
async function findVariableIssues(paths: HomePaths): Promise<FileIssue[]> {
  const problems = await serviceEnvProblems(paths)
  const moved = problems.find(({ key }) => key === 'CRABTALK_HOME')
  if (moved) throw configError([moved])
  return problems
}

async function findFileIssues(name: string, paths: HomePaths): Promise<FileIssue[]> {
  await loadConfig(paths)
  return [...(await findProblems(paths)), ...(name === 'cron' ? await findCronIssues(paths) : [])]
}

/** Lists the entries that cannot fire. Throws when the file as a whole cannot be read. */
async function findCronIssues({ crons }: HomePaths): Promise<readonly FileIssue[]> {
  const { loadCrons } = await import('../../../core/cron/cron-file.ts')
  const { broken, problems } = await loadCrons(crons)
  if (broken) throw broken
  return problems
}
