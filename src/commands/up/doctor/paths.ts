import { delimiter } from 'node:path'
import {
  type Check,
  type CheckContext,
  type CheckResult,
  note,
  ok,
  problem,
  warning,
} from '../../../cli/check.ts'
import { findProgram } from '../../../core/process/find-program.ts'
import { fetchUnitFacts } from '../../../up/services/collect-services.ts'
import { openServicesContext } from '../../../up/services/services-context.ts'
import { servicePath } from '../../../up/services/spec-context.ts'

/** Checks whether the daemon, run as a service, finds the MCP server programs that this shell finds. */
export const checkServicePaths: Check = async (context, signal) => {
  const { host, agents } = context
  const services = await openServicesContext(host, signal)
  const facts = await fetchUnitFacts(services, 'daemon')
  const isNow = facts?.path !== undefined
  const { hasOwnPath } = services.specs
  const path = facts?.path ?? services.specs.path
  const declared = agents.flatMap(({ name, mcps }) => mcps.map((entry) => ({ agent: name, entry })))
  const local = declared.filter(({ entry }) => entry.command !== undefined && !entry.disabled)
  const found = await Promise.all(local.map((one) => compare(one, { context, path, isNow, hasOwnPath })))
  const folders = path.split(delimiter).length
  const many = folders === 1 ? 'one directory' : `${folders} directories`
  const whose = isNow ? 'the daemon service has' : 'the daemon service would have'
  return [ok(`${whose} ${many} on its PATH`), ...(hasOwnPath ? [] : checkTransientPath(context)), ...found]
}

type Entry = CheckContext['agents'][number]['mcps'][number]

async function compare(
  { agent, entry }: { agent: string; entry: Entry },
  {
    context,
    path,
    isNow,
    hasOwnPath,
  }: { context: CheckContext; path: string; isNow: boolean; hasOwnPath: boolean },
): Promise<CheckResult> {
  const { host, paths } = context
  const { name, command = '', cwd = paths.home } = entry
  const folder = cwd === paths.home ? host.cwd() : cwd // the home may not exist yet
  const find = (PATH: string) =>
    findProgram({ argv: [command], cwd: folder, env: { PATH, ...entry.env } }).catch(() => undefined)
  const [here, there] = await Promise.all([find(host.env['PATH'] ?? ''), find(path)])
  const what = `${name} of ${agent}`
  if (there !== undefined) {
    if (here === there || here === undefined) return ok(`${what}: ${there}`)
    return note(`${what}: this shell finds ${here}, but the service ${there}`)
  }
  if (here === undefined) return warning(`${what}: neither this shell nor the service finds ${command}`)
  const taken = isNow ? 'crabup daemon restart takes the PATH of this shell, or ' : ''
  const again = hasOwnPath ? 'add its directory to the PATH in service.env, or ' : taken
  const message = `${what}: ${command} is found by this shell (${here}), but not by the service`
  return (isNow ? problem : warning)(message, `${again}use its full path`)
}

function checkTransientPath({ host }: CheckContext): CheckResult[] {
  const { versionedNode } = servicePath(host)
  if (versionedNode === undefined) return []
  return [
    warning(
      `node is found only in ${versionedNode}, which the next Node update removes`,
      'install Node for all shells',
    ),
  ]
}
