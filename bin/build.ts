import { realpathSync } from 'node:fs'
import { getAssetKeys, isSea } from 'node:sea'
import type { Build } from '../src/cli/host.ts'
import { installedRipgrep } from './ripgrep.ts'

/** Describes this program, as built or as run from source; nothing is unpacked. */
export function describeBuild(): Build {
  const isOneFile = isSea()
  const path = isOneFile ? process.execPath : realpathSync(process.argv[1] ?? process.execPath)
  const hasRipgrep = isOneFile ? getAssetKeys().includes('ripgrep') : installedRipgrep(path) !== undefined
  const command: Build['command'] = isOneFile
    ? [process.execPath]
    : // Without `--`, Node would read a later `--env-file` itself.
      [process.execPath, ...inheritedFlags(process.execArgv), '--', path]
  return { path, command, node: process.versions.node, isOneFile, hasRipgrep }
}

/**
 * Returns the Node flags to pass on to another start; flags that load code or come from a test runner are
 * dropped.
 */
function inheritedFlags(flags: readonly string[]): string[] {
  return flags.filter((flag) => flag.startsWith('--use-') || flag.startsWith('--disable-warning'))
}
