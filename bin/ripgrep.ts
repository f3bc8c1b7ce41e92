import { realpathSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { getAssetKeys, getRawAsset, isSea } from 'node:sea'
import { replaceFile } from '../src/core/base/files.ts'
import { openRipgrepAsset, type RipgrepAsset } from './ripgrep-asset.ts'

/**
 * The path of the ripgrep that comes with this program: from source that of an optional dependency, in the binary a file
 * below `folder`, which is written once. Undefined when there is none, or it cannot be written.
 */
export async function resolveRipgrep(folder: string): Promise<string | undefined> {
  if (!isSea()) return installedRipgrep(process.argv[1] ?? '')
  if (!getAssetKeys().includes('ripgrep')) return undefined
  return await unpackRipgrep(openRipgrepAsset(getRawAsset('ripgrep') as ArrayBuffer), folder)
}

/** The ripgrep that npm has put beside a script. */
export function installedRipgrep(script: string): string | undefined {
  try {
    const name = `@vscode/ripgrep-${process.platform}-${process.arch}/bin/${fileName()}`
    return createRequire(realpathSync(script)).resolve(name)
  } catch {
    return undefined // no package for this system, or it was left out
  }
}

/** Under its hash, so that a file of the right size is the right file: it gets its name when it is whole. */
export async function unpackRipgrep(asset: RipgrepAsset, folder: string): Promise<string | undefined> {
  const path = join(folder, asset.sha256.slice(0, 16), fileName())
  try {
    const there = await stat(path).catch(() => undefined)
    if (!there?.isFile() || there.size !== asset.size) await replaceFile(path, await asset.program(), 0o700)
    return path
  } catch {
    return undefined // a cache that cannot be written is no reason to fail: there are other ways to search
  }
}

function fileName(): string {
  return process.platform === 'win32' ? 'rg.exe' : 'rg'
}
