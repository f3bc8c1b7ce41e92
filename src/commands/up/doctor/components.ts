import { access } from 'node:fs/promises'
import {
  type Check,
  type CheckContext,
  type CheckResult,
  note,
  ok,
  problem,
  warning,
} from '../../../cli/check.ts'
import { toCrabError } from '../../../core/base/errors.ts'
import { quoteWord } from '../../../core/base/quote-word.ts'
import { readTextFile } from '../../../core/config/load-config.ts'
import { toUpHost } from '../../../up/host.ts'
import { ownVariables } from '../../../up/own-env.ts'
import { componentFolder, readFailedVersion } from '../../../up/packages/component-folder.ts'
import { brokenPackages, type InstalledService, installedServices } from '../../../up/packages/installed.ts'
import { findNpmProgram, probeNode } from '../../../up/packages/node-programs.ts'
import { buildSpecContext } from '../../../up/services/spec-context.ts'

/** Checks whether components can run and be installed: Node, npm, and the files of each component. */
export const checkComponents: Check = async (context, signal) => {
  const installed = installedServices(context.paths)
  const files = installed.map(async (service) => {
    const { name, version, script } = service
    const isThere = await access(script).then(
      () => true,
      () => false,
    )
    const isWhole = isThere
      ? ok(`${name} ${version} is installed`)
      : problem(`${name}: ${script} does not exist`, `crabup pull ${pullArgument(service)} reinstalls it`)
    return [isWhole, ...(await failedUpdate(service, context)), ...(await checkVariables(service, context))]
  })
  const broken = brokenPackages(context.paths).map((name) =>
    warning(
      `packages/${name} is not a component`,
      `crabup pull PACKAGE reinstalls it, crabup rm ${name} removes it`,
    ),
  )
  const needsNode = installed.some(({ runsOnNode }) => runsOnNode)
  return [
    ...(await Promise.all(files)).flat(),
    ...broken,
    await checkNode(context, needsNode, signal),
    await checkNpm(context),
  ]
}

/** Reports the variables of service.env that a component receives and those it asks for in vain; names only. */
async function checkVariables(
  { name, variables }: InstalledService,
  { paths }: CheckContext,
): Promise<CheckResult[]> {
  const file = paths.serviceEnv
  const text = (await readTextFile(file).catch(() => '')) ?? '' // checkServiceEnvironment reports why
  const names = ownVariables(text, { service: name, names: variables })
  const missing = variables.filter((one) => !names.includes(one))
  return [
    ...(names.length > 0 ? [ok(`${name} gets ${names.join(', ')} from service.env`)] : []),
    ...(missing.length > 0
      ? [note(`${name} asks for ${missing.join(', ')}`, `to allow it, add it to ${file}`)]
      : []),
  ]
}

/**
 * Returns the argument that pulls the component again: the full package name, because a name outside crabup's
 * table may belong to another package.
 */
function pullArgument({ origin, package: packageName, source }: InstalledService): string {
  return origin === 'registry' ? packageName : quoteWord(source)
}

/** Reports a failed version that an update skips. */
async function failedUpdate(
  { name, package: packageName }: InstalledService,
  { paths }: CheckContext,
): Promise<CheckResult[]> {
  const failed = await readFailedVersion(componentFolder(paths, name))
  if (!failed) return []
  const message = `${name}: ${failed.version} was tried on ${failed.at.slice(0, 10)} and not kept: ${failed.why}`
  return [note(message, `crabup pull ${packageName} --version ${failed.version} tries it again`)]
}

async function checkNode(
  { host }: CheckContext,
  isNeeded: boolean,
  signal: AbortSignal,
): Promise<CheckResult> {
  const { node } = await buildSpecContext(host)
  if (node === undefined) {
    const message = 'no node is on the PATH of services; components are Node scripts'
    return isNeeded ? problem(message, 'install Node 20 or newer') : note(message)
  }
  const { version = '' } = (await probeNode(node, toUpHost(host), signal)) ?? {}
  if (Number(/^v(\d+)/.exec(version)?.[1] ?? 0) >= MIN_NODE_VERSION)
    return ok(`components run on Node ${version}: ${node}`)
  const message = `${node} is Node ${version}, and components need ${MIN_NODE_VERSION} or newer`
  return isNeeded ? problem(message, 'install a newer Node') : warning(message, 'install a newer Node')
}

async function checkNpm({ host }: CheckContext): Promise<CheckResult> {
  return await findNpmProgram(toUpHost(host), host.cwd()).then(
    (argv) => ok(`crabup pull uses ${argv.at(-1)}`),
    (reason: unknown) => note(`${toCrabError(reason).message}; crabup pull needs it`),
  )
}

const MIN_NODE_VERSION = 20
