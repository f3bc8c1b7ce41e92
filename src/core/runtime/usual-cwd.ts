import { join } from 'node:path'
import { makePrivateDir } from '../base/files.ts'
import type { Trust } from '../policy/types.ts'
import type { RuntimeOptions } from './runtime-options.ts'

/**
 * Where a new conversation works whose client chose no directory. Nobody at this machine chose it for a remote or
 * unattended one: that gets a folder of its agent's own.
 */
export async function usualCwd(
  { defaultCwd, workspaces }: Pick<RuntimeOptions, 'defaultCwd' | 'workspaces'>,
  agent: string,
  trust: Trust,
): Promise<string> {
  if (trust === 'local') return defaultCwd
  const folder = join(workspaces, agent)
  await makePrivateDir(folder)
  return folder
}
