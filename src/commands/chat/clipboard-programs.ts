import { CrabError } from '../../core/base/errors.ts'
import { findProgram } from '../../core/process/find-program.ts'

/** The environment in which clipboard programs run. */
export interface ClipboardSystem {
  env: Readonly<Record<string, string>>
  platform: NodeJS.Platform
  /** An absolute path. */
  cwd: string
}

/** Returns the path of a program; undefined when it is not installed. */
export async function findInstalled(
  name: string,
  { env, cwd }: Pick<ClipboardSystem, 'env' | 'cwd'>,
): Promise<string | undefined> {
  return await findProgram({ argv: [name], cwd, env }).catch((reason: unknown) => {
    if (reason instanceof CrabError && reason.kind === 'missing') return undefined
    throw reason
  })
}
