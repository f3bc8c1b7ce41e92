import { CrabError } from '../core/base/errors.ts'
import type { Config } from '../core/config/config.ts'
import { readEnvFile } from '../core/config/env-file.ts'
import type { HomePaths } from '../core/config/paths.ts'
import type { Env } from '../core/provider/env.ts'
import { modelVariables } from '../core/provider/model-variables.ts'

/**
 * Adds a hint to the reason for a missing default model when the missing key is stored in service.env, which only services
 * read.
 */
export async function withMissingKeyHint(
  reason: CrabError,
  config: Config,
  { paths, env }: { paths: Pick<HomePaths, 'serviceEnv'>; env: Env },
): Promise<CrabError> {
  if (reason.kind !== 'config') return reason
  // only a hint
  const serviceVariables = await readEnvFile(paths.serviceEnv).catch(() => ({}) as Record<string, string>)
  const [name] = modelVariables(config, serviceVariables).filter((one) => serviceVariables[one] && !env[one])
  if (name === undefined) return reason
  const hint = `${name} is set in service.env, which only services read: start the daemon with crabup daemon start, or set the variable in this shell`
  return new CrabError(reason.kind, reason.message, { hint, cause: reason })
}
