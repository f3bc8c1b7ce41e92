import { text } from 'node:stream/consumers'
import type { ProcessHost } from '../../process/types.ts'
import type { ToolDispatch } from '../../runtime/hook.ts'
import { DEFAULT_PATH, hardenedEnv } from './environment.ts'
import { keepFoldersOutside } from './program-origin.ts'

/**
 * Whether the git that a line would run is older than 2.38, or its version is unknown. Such a git ignores
 * `safe.bareRepository`, and takes any folder below a repository for another repository when it contains the
 * right files.
 */
export async function isOldGit(
  processes: ProcessHost,
  { cwd, roots, env }: Pick<ToolDispatch, 'cwd' | 'roots' | 'env'>,
): Promise<boolean> {
  const hardened = hardenedEnv(env)
  const path = await keepFoldersOutside(hardened['PATH'] ?? DEFAULT_PATH, {
    workspace: cwd,
    ...(roots && { roots }),
  })
  await using running = await processes.start({
    argv: ['git', 'version'],
    cwd,
    env: { ...hardened, PATH: path },
    stdin: 'none',
    stderr: 'stdout',
  })
  const [, major, minor] = /^git version (\d+)\.(\d+)/.exec(await text(running.stdout)) ?? []
  return !(Number(major) > 2 || (Number(major) === 2 && Number(minor) >= 38))
}
