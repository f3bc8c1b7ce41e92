import { dirname, join } from 'node:path'
import { replaceFile } from '../../base/files.ts'
import { readPlain } from '../../policy/read-only/plain-files.ts'
import type { ReadOnlyUse } from '../../policy/types.ts'
import type { ToolDispatch } from '../../runtime/hook.ts'
import { DEFAULT_PATH, hardenedEnv } from './environment.ts'
import { keepFoldersOutside } from './program-origin.ts'

/**
 * Returns the environment for a line of read-only commands: hardenedEnv(), without the PATH folders that
 * depend on the project, and with what git and rg need. A line that looks up programs and does not use git
 * keeps the whole PATH.
 */
export async function readOnlyEnv(
  { cwd, env, spillDir }: Pick<ToolDispatch, 'cwd' | 'env' | 'spillDir'>,
  uses: readonly ReadOnlyUse[],
): Promise<Record<string, string>> {
  const hardened = hardenedEnv(env)
  const path = hardened['PATH'] ?? DEFAULT_PATH
  const tops = uses.flatMap(({ repository }) => repository ?? [])
  const [top] = tops.sort((one, other) => one.length - other.length)
  const looksUp = uses.some(({ form }) => LOOKUPS.has(form))
  return {
    ...hardened,
    PATH: looksUp && top === undefined ? path : await keepFoldersOutside(path, cwd),
    ...(top !== undefined && { GIT_CEILING_DIRECTORIES: dirname(top) }),
    ...(uses.some(({ form }) => form === 'rg') && {
      RIPGREP_CONFIG_PATH: await writeRipgrepConfig(spillDir),
    }),
  }
}

/**
 * Writes the configuration of rg unless it is already correct. Without it, rg prints lines of an ignore file,
 * which may be a link to any file.
 */
async function writeRipgrepConfig(folder: string): Promise<string> {
  const path = join(folder, 'ripgreprc')
  const found = await readPlain(path).catch(() => undefined) // missing, or not a plain file
  if (found?.toString() !== RIPGREP_CONFIG) await replaceFile(path, RIPGREP_CONFIG)
  return path
}

const RIPGREP_CONFIG = '--no-ignore-messages\n'
/** The forms that print where PATH finds a program. */
const LOOKUPS: ReadonlySet<string> = new Set(['which', 'type', 'command -v'])
