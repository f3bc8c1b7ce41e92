import { makePrivateDir } from '../base/files.ts'
import { type TurnPair, turnFolder } from '../policy/class-rights.ts'
import type { Trust } from '../policy/types.ts'
import type { RuntimeOptions } from './runtime-options.ts'

/**
 * Returns the directory that a turn works in: `chosen` for a local one, otherwise the folder of its trust
 * class, which is created with access for this user only. Without `workspaces` every turn works in `chosen`.
 */
export async function workingDirectory(
  { workspaces }: Pick<RuntimeOptions, 'workspaces'>,
  { pair, trust }: { pair: TurnPair; trust: Trust },
  chosen: string,
): Promise<string> {
  const folder = workspaces === undefined ? undefined : turnFolder(workspaces, pair, trust)
  if (folder === undefined) return chosen
  await makePrivateDir(folder)
  return folder
}
