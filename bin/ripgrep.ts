import { realpathSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { getAssetKeys, getRawAsset, isSea } from 'node:sea'
import { replaceFile } from '../src/core/base/files.ts'
import { openRipgrepAsset, type RipgrepAsset } from './ripgrep-asset.ts'

/**
 * Resolves the path of the ripgrep that comes with this program: from source, an optional dependency; in the
 * binary, a file below `folder` that is written once. Returns undefined when there is none or it cannot be
 * written.
 */
export async function resolveRipgrep(folder: string): Promise<string | undefined> {
  if (!isSea()) return installedRipgrep(process.argv[1] ?? '')
  if (!getAssetKeys().includes('ripgrep')) return undefined
  return await unpackRipgrep(openRipgrepAsset(getRawAsset('ripgrep') as ArrayBuffer), folder)
}

/** Finds the ripgrep that npm installed next to a script. */
export function installedRipgrep(script: string): string | undefined {
  try {
    const name = `@vscode/ripgrep-${process.platform}-${process.arch}/bin/${fileName()}`
    return createRequire(realpathSync(script)).resolve(name)
  } catch {
    return undefined // there is no package for this platform, or it was not installed
  }
}

/**
 * Writes the program below a folder named by its hash. It gets its name when it is complete, so a file of the
 * right size is the right file.
 */
export async function unpackRipgrep(asset: RipgrepAsset, folder: string): Promise<string | undefined> {
  const path = join(folder, asset.sha256.slice(0, 16), fileName())
  try {
    const there = await stat(path).catch(() => undefined)
    if (!there?.isFile() || there.size !== asset.size) await replaceFile(path, await asset.program(), 0o700)
    return path
  } catch {
    return undefined // a cache that cannot be written is not an error: there are other ways to search
  }
}

function fileName(): string {
  return process.platform === 'win32' ? 'rg.exe' : 'rg'
}
