import { chmod, stat } from 'node:fs/promises'
import { platform } from 'node:os'
import { readConfig } from '../../../core/config/load-config.ts'
import { type FileIssue, formatLocation } from '../../../core/config/validation-issue.ts'
import { modelVariables } from '../../../core/provider/model-variables.ts'
import { serviceEnvPath } from '../../../up/service-spec.ts'
import { readEnvFileSync } from '../../../up/supervisor/environment.ts'
import {
  type Check,
  type CheckContext,
  type CheckResult,
  note,
  ok,
  problem,
  warning,
} from '../../doctor/check.ts'
import { serviceEnvProblems } from '../service/service-env.ts'

/** Whether service.env is for its owner only, and has what the models need that this shell has. */
export const checkServiceEnvironment: Check = async (place) => {
  const file = serviceEnvPath(place.paths)
  const stats = await stat(file).catch(() => undefined) // none is needed
  const values = readEnvFileSync(file)
  const names = Object.keys(values)
  const which = names.length === 0 ? 'sets nothing' : `sets ${names.join(', ')}`
  return [
    stats ? ok(`${file} ${which}`) : note(`there is no ${file}; secrets of services belong there`),
    ...(stats && platform() !== 'win32' && !(await isClosed(place.paths.home))
      ? openMode(file, stats.mode)
      : []),
    ...(await serviceEnvProblems(place.paths)).map(toFinding),
    ...(await findShellOnlyKeys(place, values)),
  ]
}

/** A line of it that is not read as it stands there; none keeps a service from starting but that of another home. */
function toFinding({ key, message, hint, ...place }: FileIssue): CheckResult {
  const say = key === 'CRABTALK_HOME' ? problem : hint === undefined ? note : warning
  return say(`${formatLocation(place)}: ${message}`, hint)
}

/** Other users cannot reach a file of a directory that is closed to them, whatever its mode. */
async function isClosed(folder: string): Promise<boolean> {
  const stats = await stat(folder).catch(() => undefined) // it does not exist
  return stats !== undefined && (stats.mode & 0o077) === 0
}

function openMode(file: string, mode: number): CheckResult[] {
  if ((mode & 0o077) === 0) return []
  const fix = { done: `${file} is readable for you only`, apply: () => chmod(file, 0o600) }
  return [{ ...problem(`${file}: others can read the secrets in it`, `chmod 600 it`), fix }]
}

/** What the choice of a model depends on, and a service does not see. */
async function findShellOnlyKeys(
  { paths, host }: CheckContext,
  values: Readonly<Record<string, string>>,
): Promise<CheckResult[]> {
  const config = await readConfig(paths)
  if (!config.ok) return [] // said where the configuration is looked at
  return modelVariables(config.value, host.env)
    .filter((name) => host.env[name] && values[name] === undefined)
    .map((name) =>
      warning(
        `${name} is set in this shell, and services do not see it`,
        `write ${name}='…' into ${serviceEnvPath(paths)}`,
      ),
    )
}
