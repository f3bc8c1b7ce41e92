import { realpathSync } from 'node:fs'
import { getAssetKeys, isSea } from 'node:sea'
import type { Build } from '../src/commands/host.ts'
import { installedRipgrep } from './ripgrep.ts'

/** This program, as it was built or as it lies in its folder; nothing is unpacked. */
export function describeBuild(): Build {
  const isOneFile = isSea()
  const path = isOneFile ? process.execPath : realpathSync(process.argv[1] ?? process.execPath)
  const hasRipgrep = isOneFile ? getAssetKeys().includes('ripgrep') : installedRipgrep(path) !== undefined
  const command: Build['command'] = isOneFile
    ? [process.execPath]
    : [process.execPath, ...inheritedFlags(process.execArgv), '--', path] // or Node takes an `--env-file` behind for its own
  return { path, command, node: process.versions.node, isOneFile, hasRipgrep }
}

/** The flags of Node that are to hold for another start as well: not those that load something, or that a test runner gave. */
function inheritedFlags(flags: readonly string[]): string[] {
  return flags.filter((flag) => flag.startsWith('--use-') || flag.startsWith('--disable-warning'))
}
