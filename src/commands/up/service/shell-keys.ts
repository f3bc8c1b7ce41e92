import { readEnvFile, setInEnvFile } from '../../../core/config/env-file.ts'
import { loadConfig } from '../../../core/config/load-config.ts'
import { modelVariables } from '../../../core/provider/model-variables.ts'
import { serviceEnvPath } from '../../../up/service-spec.ts'
import type { OpenService } from './open-service.ts'

/** The variables of this shell that determine the available models and that a service does not see. */
export interface ShellKeys {
  /** Those that are not in service.env. */
  absent: readonly string[]
  /** Those with a different value in service.env. */
  different: readonly string[]
}

/**
 * Finds the keys of this shell that a service lacks. Temporary AWS credentials are left out, because they
 * expire soon.
 */
export async function shellKeys({ paths, host }: Pick<OpenService, 'paths' | 'host'>): Promise<ShellKeys> {
  const { env } = host
  const own = await readEnvFile(serviceEnvPath(paths))
  const names = modelVariables(await loadConfig(paths), env).filter(
    (name) => env[name] && !(env['AWS_SESSION_TOKEN'] && name.startsWith('AWS_')),
  )
  return {
    absent: names.filter((name) => !own[name]),
    different: names.filter((name) => own[name] && own[name] !== env[name]),
  }
}

/** Writes variables of this shell into service.env. Throws like setInEnvFile(). */
export async function keepKeys(
  { paths, host }: Pick<OpenService, 'paths' | 'host'>,
  names: readonly string[],
): Promise<void> {
  const values = Object.fromEntries(names.map((name) => [name, host.env[name]!]))
  await setInEnvFile(serviceEnvPath(paths), values)
}
