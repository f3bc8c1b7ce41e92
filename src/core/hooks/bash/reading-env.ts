import { access } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { createFile } from '../../base/files.ts'
import type { ReadOnlyUse } from '../../policy/types.ts'
import type { ToolDispatch } from '../../runtime/hook.ts'
import { DEFAULT_PATH, hardenedEnv } from './environment.ts'
import { keepFoldersOutside } from './own-programs.ts'

/** Returns the environment that a line of commands which only read runs in: as hardenedEnv(), and what git and rg need. */
export async function readingEnv(
  { cwd, env, spillDir }: Pick<ToolDispatch, 'cwd' | 'env' | 'spillDir'>,
  uses: readonly ReadOnlyUse[],
): Promise<Record<string, string>> {
  const hardened = hardenedEnv(env)
  const tops = uses.flatMap(({ repository }) => repository ?? [])
  const [top] = tops.sort((one, other) => one.length - other.length)
  return {
    ...hardened,
    ...(top !== undefined && {
      PATH: await keepFoldersOutside(hardened['PATH'] ?? DEFAULT_PATH, cwd),
      GIT_CEILING_DIRECTORIES: dirname(top),
    }),
    ...(uses.some(({ form }) => form === 'rg') && {
      RIPGREP_CONFIG_PATH: await writeRipgrepConfig(spillDir),
    }),
  }
}

/** An ignore file may be a link to any file, of which rg would print the lines that are no pattern. */
async function writeRipgrepConfig(folder: string): Promise<string> {
  const path = join(folder, 'ripgreprc')
  const isThere = await access(path).then(
    () => true,
    () => false,
  )
  if (!isThere) await createFile(path, '--no-ignore-messages\n')
  return path
}
