import { readEnvFile, setInEnvFile } from '../../../core/config/env-file.ts'
import { loadConfig } from '../../../core/config/load-config.ts'
import { modelVariables } from '../../../core/provider/model-variables.ts'
import { serviceEnvPath } from '../../../up/service-spec.ts'
import type { OpenService } from './open-service.ts'

/** Variables of this shell on which it depends which models there are, and that a service does not see. */
export interface ShellKeys {
  /** Such as are in no service.env. */
  absent: readonly string[]
  /** Such as have another value there. */
  different: readonly string[]
}

/** What of this shell a service lacks. A session of AWS is left out: it is over before long. */
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

/** Writes these variables of this shell into service.env. Fails as setInEnvFile(). */
export async function keepKeys(
  { paths, host }: Pick<OpenService, 'paths' | 'host'>,
  names: readonly string[],
): Promise<void> {
  const values = Object.fromEntries(names.map((name) => [name, host.env[name]!]))
  await setInEnvFile(serviceEnvPath(paths), values)
}
