import { parseVariables } from '../../../core/config/env-file-text.ts'
import { findProblems } from '../../../core/config/find-problems.ts'
import { loadConfig, readTextFile } from '../../../core/config/load-config.ts'
import type { HomePaths } from '../../../core/config/paths.ts'
import { configError, type FileIssue, formatLocation } from '../../../core/config/validation-issue.ts'
import type { Host } from '../../host.ts'
import type { OpenService } from './open-service.ts'
import { serviceEnvProblems } from './service-env.ts'

/**
 * Looks whether a service can start with the configuration as it is, before anything is changed. Fails with `config`,
 * naming file and line; what keeps only an agent from working, and a variable from being read, is a warning.
 */
export async function requireValidConfiguration({ service, paths, host }: OpenService): Promise<void> {
  const problems = await findVariableIssues(paths)
  if ('words' in service.run) problems.push(...(await findFileIssues(service.name, paths))) // a component reads none of it
  if (service.name === 'daemon') await warnOfOpenTcp(paths, host)
  for (const problem of problems) {
    const hint = problem.hint === undefined ? '' : ` (${problem.hint})`
    host.stderr.write(`crabup: ${formatLocation(problem)}: ${problem.message}${hint}\n`)
  }
}

/** Warns where the daemon would serve TCP clients that show no token; fails with `config` as the daemon would. */
async function warnOfOpenTcp(paths: HomePaths, host: Host): Promise<void> {
  const { daemon } = await loadConfig(paths)
  if (daemon.tcpPort === undefined || daemon.tcpToken) return
  const { isTcpOpen, OPEN_TCP_HINT, OPEN_TCP_WARNING } = await import('../../../daemon/tcp/open-tcp.ts')
  isTcpOpen(daemon, parseVariables((await readTextFile(paths.serviceEnv)) ?? ''))
  host.stderr.write(`crabup: warning: ${OPEN_TCP_WARNING} (${OPEN_TCP_HINT})\n`)
}

/** Fails with `config` where the file of variables takes the service to another home. */
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

/** Entries that cannot fire. Fails with `config` where none could. */
async function findCronIssues({ crons }: HomePaths): Promise<readonly FileIssue[]> {
  const { loadCrons: lookAtCrons } = await import('../../../core/cron/cron-file.ts')
  const { broken, problems } = await lookAtCrons(crons)
  if (broken) throw broken
  return problems
}
