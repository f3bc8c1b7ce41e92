import { chmod, stat } from 'node:fs/promises'
import { platform } from 'node:os'
import {
  type Check,
  type CheckContext,
  type CheckResult,
  note,
  ok,
  problem,
  warning,
} from '../../../cli/check.ts'
import { readConfig } from '../../../core/config/load-config.ts'
import { type FileIssue, formatLocation } from '../../../core/config/validation-issue.ts'
import { modelVariables } from '../../../core/provider/model-variables.ts'
import { readServiceEnv, serviceEnvProblems } from '../../../up/services/service-env.ts'

/** Checks whether only the owner can read service.env, and whether it has the model keys of this shell. */
export const checkServiceEnvironment: Check = async (context) => {
  const file = context.paths.serviceEnv
  const stats = await stat(file).catch(() => undefined) // the file is optional
  const values = readServiceEnv(context.paths)
  const names = Object.keys(values)
  const which = names.length === 0 ? 'sets nothing' : `sets ${names.join(', ')}`
  return [
    stats ? ok(`${file} ${which}`) : note(`${file} does not exist; secrets of services belong there`),
    ...(stats && platform() !== 'win32' && !(await isClosed(context.paths.home))
      ? openMode(file, stats.mode)
      : []),
    ...(await serviceEnvProblems(context.paths)).map(toFinding),
    ...(await findShellOnlyKeys(context, values)),
  ]
}

/**
 * Converts a line that is not read as written; only one that sets another home keeps a service from starting.
 */
function toFinding({ key, message, hint, ...place }: FileIssue): CheckResult {
  const say = key === 'CRABTALK_HOME' ? problem : hint === undefined ? note : warning
  return say(`${formatLocation(place)}: ${message}`, hint)
}

/** Whether other users have no access to a directory, and so none to its files, whatever their modes. */
async function isClosed(folder: string): Promise<boolean> {
  const stats = await stat(folder).catch(() => undefined) // it does not exist
  return stats !== undefined && (stats.mode & 0o077) === 0
}

function openMode(file: string, mode: number): CheckResult[] {
  if ((mode & 0o077) === 0) return []
  const fix = { done: `${file} is readable only by you`, apply: () => chmod(file, 0o600) }
  return [{ ...problem(`${file}: others can read the secrets in it`, `chmod 600 it`), fix }]
}

/** Finds the variables on which the choice of a model depends and that only this shell has. */
async function findShellOnlyKeys(
  { paths, host }: CheckContext,
  values: Readonly<Record<string, string>>,
): Promise<CheckResult[]> {
  const config = await readConfig(paths)
  if (!config.ok) return [] // the configuration check reports it
  return modelVariables(config.value, host.env)
    .filter((name) => host.env[name] && values[name] === undefined)
    .map((name) =>
      warning(
        `${name} is set in this shell, but services do not see it`,
        `add ${name}='…' to ${paths.serviceEnv}`,
      ),
    )
}
