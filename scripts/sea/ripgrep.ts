import { createHash } from 'node:crypto'
import { open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { constants, zstdCompressSync } from 'node:zlib'
import { isMissingFile } from '../../src/core/base/files.ts'

const PACKAGES = join(import.meta.dirname, '../../node_modules/@vscode')

/** The asset that `openRipgrepAsset` reads. */
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

/** The ripgrep for a target such as `linux-x64`; undefined when npm has not installed its package. */
export async function ripgrepFor(target: string, packages = PACKAGES): Promise<Buffer | undefined> {
  const name = target.startsWith('win32') ? 'rg.exe' : 'rg'
  try {
    return await readFile(join(packages, `ripgrep-${target}`, 'bin', name))
  } catch (reason) {
    if (isMissingFile(reason)) return undefined
    throw reason
  }
}

/** The system and processor an executable is for, as `linux-x64`. Throws for what is none that is known. */
export async function targetOf(executable: string): Promise<string> {
  await using file = await open(executable)
  const { buffer: head } = await file.read(Buffer.alloc(1024), 0, 1024, 0)
  const target = elfTarget(head) ?? machTarget(head) ?? windowsTarget(head)
  if (target) return target
  throw new Error(`Cannot tell what ${executable} runs on`)
}

function elfTarget(head: Buffer): string | undefined {
  if (head.toString('latin1', 0, 4) !== '\x7fELF') return undefined
  return toTarget('linux', { 62: 'x64', 183: 'arm64' }[head.readUInt16LE(18)])
}

function machTarget(head: Buffer): string | undefined {
  if (head.readUInt32LE(0) !== 0xfeedfacf) return undefined
  return toTarget('darwin', { 16777223: 'x64', 16777228: 'arm64' }[head.readUInt32LE(4)])
}

function windowsTarget(head: Buffer): string | undefined {
  if (head.toString('latin1', 0, 2) !== 'MZ') return undefined
  const machine = head.readUInt32LE(0x3c) + 4
  return toTarget('win32', { 34404: 'x64', 43620: 'arm64' }[head.readUInt16LE(machine)])
}

function toTarget(system: string, processor: string | undefined): string | undefined {
  return processor && `${system}-${processor}`
}
