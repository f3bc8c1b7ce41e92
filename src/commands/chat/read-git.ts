import { type OwnLineOptions, runReadOnlyLine } from '../../core/hooks/bash/read-only-line.ts'
import type { GitReading } from '../../tui/ports.ts'
import { findGitFolder } from './branch.ts'

/** Runs `git` with these arguments in a repository that may belong to others; see runReadOnlyLine(). */
export async function readGit(
  args: string,
  options: OwnLineOptions,
  signal: AbortSignal,
): Promise<GitReading> {
  if ((await findGitFolder(options.cwd)) === undefined) return { kind: 'none' }
  const result = await runReadOnlyLine(`git ${args}`, options, signal)
  return result ? { kind: 'read', ...result } : { kind: 'unchecked' }
}
