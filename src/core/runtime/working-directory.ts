import { makePrivateDir } from '../base/files.ts'
import { type TurnPair, turnFolder } from '../policy/class-rights.ts'
import type { Trust } from '../policy/types.ts'
import type { RuntimeOptions } from './runtime-options.ts'

/**
 * Gives the directory that a turn works in: for a local one `chosen`, for any other the folder of its class, which is made
 * private to this user. Without `workspaces` every turn works in `chosen`.
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
