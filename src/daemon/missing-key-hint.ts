import { CrabError } from '../core/base/errors.ts'
import type { Config } from '../core/config/config.ts'
import { readEnvFile } from '../core/config/env-file.ts'
import type { HomePaths } from '../core/config/paths.ts'
import type { Env } from '../core/provider/env.ts'
import { modelVariables } from '../core/provider/model-variables.ts'

/** A failure to open models as it is to be told where keys are kept that only services have. */
export async function withMissingKeyHint(
  reason: unknown,
  config: Config,
  { paths, env }: { paths: Pick<HomePaths, 'serviceEnv'>; env: Env },
): Promise<unknown> {
  if (!(reason instanceof CrabError) || reason.kind !== 'config') return reason
  const kept = await readEnvFile(paths.serviceEnv).catch(() => ({}) as Record<string, string>) // it is only a hint
  const [name] = modelVariables(config, kept).filter((one) => kept[one] && !env[one])
  if (name === undefined) return reason
  const hint = `${name} is kept for the daemon: crabup daemon start; or set it in this shell`
  return new CrabError(reason.kind, reason.message, { hint, cause: reason })
}
