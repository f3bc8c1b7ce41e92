import type { ProcessHost } from '../../process/types.ts'
import type { ShellResult } from './user-shell.ts'

/** The context of a line that crabtalk runs on its own. */
export interface OwnLineOptions {
  processes: ProcessHost
  /** An absolute path. */
  cwd: string
  env: Readonly<Record<string, string>>
  homeDir: string
  /** The folder to which the whole of a long output is written; an absolute path. */
  spillFolder: string
}

/**
 * Runs a command line of crabtalk itself in a folder that may belong to others, such as a repository that was
 * cloned from anywhere: only if each of its commands is one that runs without a question, and hardened like
 * those, so that no configuration, hook or filter of the repository starts a program. Returns undefined when
 * the line may do more than read there.
 */
export async function runReadOnlyLine(
  command: string,
  { processes, cwd: folder, env, homeDir, spillFolder: spillDir }: OwnLineOptions,
  signal: AbortSignal,
): Promise<ShellResult | undefined> {
  const [{ realpath }, { analyzeLine }, { DEFAULT_PATH, gitConfigFiles }, { isOldGit }, { runHardened }] =
    await Promise.all([
      import('node:fs/promises'),
      import('./read-only.ts'),
      import('./environment.ts'),
      import('./git-version.ts'),
      import('./run-shell.ts'),
    ])
  const cwd = await realpath(folder)
  const { readOnly = [] } = await analyzeLine(command, {
    cwd,
    homeDir,
    closed: [],
    path: env['PATH'] ?? DEFAULT_PATH,
    configFiles: gitConfigFiles(env),
    isOldGit: () => isOldGit(processes, { cwd, env }),
  })
  const uses = readOnly.filter((use) => use !== undefined)
  if (uses.length === 0 || uses.length < readOnly.length) return undefined
  return await runHardened(processes, { call: { cwd, env, spillDir }, command, uses }, signal)
}
