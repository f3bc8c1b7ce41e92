import { createHash } from 'node:crypto'
import { open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { constants, zstdCompressSync } from 'node:zlib'
import { isMissingFile } from '../../src/core/base/files.ts'
import { detectMachine } from '../../src/up/self/machine.ts'

const PACKAGES = join(import.meta.dirname, '../../node_modules/@vscode')

/** Builds the asset that `openRipgrepAsset` reads. */
export function makeRipgrepAsset(program: Uint8Array): Buffer {
  const size = Buffer.alloc(4)
  size.writeUInt32LE(program.length)
  const level = { [constants.ZSTD_c_compressionLevel]: 19 }
  return Buffer.concat([
    createHash('sha256').update(program).digest(),
    size,
    zstdCompressSync(program, { params: level }),
  ])
}

/** Reads the ripgrep for a target such as `linux-x64`; undefined when npm has not installed its package. */
export async function ripgrepFor(target: string, packages = PACKAGES): Promise<Buffer | undefined> {
  const name = target.startsWith('win32') ? 'rg.exe' : 'rg'
  try {
    return await readFile(join(packages, `ripgrep-${target}`, 'bin', name))
  } catch (reason) {
    if (isMissingFile(reason)) return undefined
    throw reason
  }
}

/** Detects the platform of an executable, such as `linux-x64`. Throws for an unknown one. */
export async function detectTarget(executable: string): Promise<string> {
  await using file = await open(executable)
  const { buffer: head } = await file.read(Buffer.alloc(1024), 0, 1024, 0)
  const target = detectMachine(head)
  if (target) return target
  throw new Error(`Cannot tell what ${executable} runs on`)
}
