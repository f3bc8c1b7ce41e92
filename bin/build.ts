import { realpathSync } from 'node:fs'
import { getAssetKeys, isSea } from 'node:sea'
import type { Build } from '../src/commands/host.ts'
import { installedRipgrep } from './ripgrep.ts'

/** This program, as it was built or as it lies in its folder; nothing is unpacked. */
export function ownBuild(): Build {
  const isOneFile = isSea()
  const path = isOneFile ? process.execPath : realpathSync(process.argv[1] ?? process.execPath)
  const hasRipgrep = isOneFile ? getAssetKeys().includes('ripgrep') : installedRipgrep(path) !== undefined
  return { path, node: process.versions.node, isOneFile, hasRipgrep }
}
