import { promisify } from 'node:util'
import { gunzip, inflateRaw } from 'node:zlib'
import { CrabError } from '../../core/base/errors.ts'

/** The limit of unpacking: a file that claims to be larger is not a crabtalk release. */
const MAX_BYTES = 512 * 1024 * 1024
const LIMIT = { maxOutputLength: MAX_BYTES }
const BLOCK = 512
const PROGRAMS: ReadonlySet<string> = new Set(['crabtalk', 'crabtalk.exe'])

/**
 * Extracts the program from a release file: a `.tar.gz`, an npm `.tgz`, a `.zip`, or the program itself.
 * Throws `invalid`.
 */
export async function extractProgram(bytes: Buffer, name: string): Promise<Buffer> {
  const found = await unpacked(bytes).catch((cause) => {
    throw new CrabError('invalid', `Cannot read ${name}: it is damaged`, { cause })
  })
  if (found && found.length > 0) return found
  throw new CrabError('invalid', `Cannot update from ${name}: it does not contain crabtalk`)
}

async function unpacked(bytes: Buffer): Promise<Buffer | undefined> {
  if (bytes.length > 2 && bytes.readUInt16BE(0) === 0x1f8b)
    return fromTar(await promisify(gunzip)(bytes, LIMIT))
  if (bytes.toString('latin1', 0, 4) === 'PK\x03\x04') return await fromZip(bytes)
  return bytes
}

/** Finds the program below `bin`, its folder in Unix archives and npm packages. */
function fromTar(tar: Buffer): Buffer | undefined {
  for (let at = 0; at + BLOCK <= tar.length; ) {
    const name = textAt(tar, at, 100)
    const size = Number.parseInt(textAt(tar, at + 124, 12), 8) || 0
    const isFile = ['0', '\0'].includes(tar.toString('latin1', at + 156, at + 157))
    if (isFile && isProgram(name)) return wholeSlice(tar, at + BLOCK, size)
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK
  }
  return undefined
}

function textAt(bytes: Buffer, at: number, length: number): string {
  const [text = ''] = bytes.toString('utf8', at, at + length).split('\0')
  return text
}

/** Checks the folder too, because completions have the same name in other folders. */
function isProgram(path: string): boolean {
  const [folder, name = ''] = path.split('/').slice(-2)
  return folder === 'bin' && PROGRAMS.has(name)
}

/** Reads the central directory at the end of the file, because only that reliably holds the sizes. */
async function fromZip(zip: Buffer): Promise<Buffer | undefined> {
  const end = zip.lastIndexOf('PK\x05\x06', zip.length, 'latin1')
  const count = zip.readUInt16LE(end + 10)
  let at = zip.readUInt32LE(end + 16)
  for (let index = 0; index < count; index++) {
    const [nameLength, extra, comment] = [28, 30, 32].map((offset) => zip.readUInt16LE(at + offset))
    const nameEnd = at + 46 + nameLength!
    if (isProgram(zip.toString('utf8', at + 46, nameEnd))) return await zipped(zip, at)
    at = nameEnd + extra! + comment!
  }
  return undefined
}

async function zipped(zip: Buffer, at: number): Promise<Buffer> {
  const [method, packed, local] = [
    zip.readUInt16LE(at + 10),
    zip.readUInt32LE(at + 20),
    zip.readUInt32LE(at + 42),
  ]
  const start = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28)
  const bytes = wholeSlice(zip, start, packed)
  return method === 0 ? bytes : await promisify(inflateRaw)(bytes, LIMIT)
}

function wholeSlice(bytes: Buffer, start: number, length: number): Buffer {
  if (start + length > bytes.length) throw new Error('it ends too soon')
  return bytes.subarray(start, start + length)
}
