import { createHash } from 'node:crypto'
import { type MachO, readMachO } from './mach-o.ts'

// The layout follows xnu's cs_blobs.h. A superblob holds a code directory (hashes of all pages before it), an
// empty set of requirements and an empty CMS signature, since there is no certificate. All of it is
// big-endian, unlike the rest of the file.
const SUPERBLOB = 0xfade0cc0
const CODE_DIRECTORY = { slot: 0, magic: 0xfade0c02 }
const REQUIREMENTS = { slot: 2, magic: 0xfade0c01 }
const CMS = { slot: 0x10000, magic: 0xfade0b01 }

/** The version with the fields of the executable segment. */
const VERSION = 0x20400
const DIRECTORY_BYTES = 88
const AD_HOC = 2
const SHA256 = { type: 2, bytes: 32 }
const PAGE_BITS = 12
const PAGE = 2 ** PAGE_BITS
/** The slots of Info.plist, which does not exist, and of the requirements. */
const SPECIAL_SLOTS = 2
const MAIN_BINARY = 1n

/** The page size of Apple's processors. */
const SEGMENT_PAGE = 0x4000
const LC_CODE_SIGNATURE = 0x1d
const COMMAND_BYTES = 16

/**
 * Returns a copy of a 64-bit Mach-O executable with an ad-hoc signature, as `codesign --sign -` makes it; an
 * existing signature is replaced. The same file gives the same bytes. Throws when it is another kind of file,
 * or has no room for a load command.
 */
export function signAdHoc(file: Buffer, identifier: string): Buffer {
  const machO = readMachO(file)
  const end = machO.signature?.dataOffset ?? file.length
  const codeLimit = align(end, 16)
  const size = align(superblob(Buffer.alloc(directoryBytes(identifier, codeLimit))).length, 16)
  const signed = Buffer.alloc(codeLimit + size)
  file.copy(signed, 0, 0, end)
  updateHeader(signed, machO, { codeLimit, size })
  const directory = codeDirectory(signed.subarray(0, codeLimit), identifier, machO)
  superblob(directory).copy(signed, codeLimit)
  return signed
}

/**
 * Writes the position of the signature to the header and extends the last segment over it; both are part of
 * what is signed.
 */
function updateHeader(
  file: Buffer,
  { commandCount, commandsEnd, firstSection, signature, linkedit }: MachO,
  { codeLimit, size }: { codeLimit: number; size: number },
): void {
  if (!signature) {
    if (commandsEnd + COMMAND_BYTES > firstSection) throw new Error('Cannot sign: no room for a load command')
    file.writeUInt32LE(commandCount + 1, 16)
    file.writeUInt32LE(commandsEnd - 32 + COMMAND_BYTES, 20)
  }
  const at = signature?.at ?? commandsEnd
  for (const [index, value] of [LC_CODE_SIGNATURE, COMMAND_BYTES, codeLimit, size].entries()) {
    file.writeUInt32LE(value, at + 4 * index)
  }
  const bytes = codeLimit + size - linkedit.fileOffset
  file.writeBigUInt64LE(BigInt(align(bytes, SEGMENT_PAGE)), linkedit.at + 32)
  file.writeBigUInt64LE(BigInt(bytes), linkedit.at + 48)
}

/**
 * Builds the code directory. The hashes of the special slots precede those of the pages, the last slot first;
 * the last page is hashed up to its end.
 */
function codeDirectory(code: Buffer, identifier: string, { text }: MachO): Buffer {
  const pages = Math.ceil(code.length / PAGE)
  const name = Buffer.from(`${identifier}\0`)
  const hashes = DIRECTORY_BYTES + name.length + SPECIAL_SLOTS * SHA256.bytes
  const blob = Buffer.alloc(directoryBytes(identifier, code.length))
  const numbers = [CODE_DIRECTORY.magic, blob.length, VERSION, AD_HOC, hashes, DIRECTORY_BYTES]
  const counts = [SPECIAL_SLOTS, pages, code.length]
  for (const [index, value] of [...numbers, ...counts].entries()) blob.writeUInt32BE(value, 4 * index)
  blob.set([SHA256.bytes, SHA256.type, 0, PAGE_BITS], 36)
  blob.writeBigUInt64BE(BigInt(text.fileOffset), 64)
  blob.writeBigUInt64BE(BigInt(text.fileSize), 72)
  blob.writeBigUInt64BE(MAIN_BINARY, 80)
  name.copy(blob, DIRECTORY_BYTES)
  sha256(requirements()).copy(blob, DIRECTORY_BYTES + name.length)
  for (let page = 0; page < pages; page++) {
    sha256(code.subarray(page * PAGE, (page + 1) * PAGE)).copy(blob, hashes + page * SHA256.bytes)
  }
  return blob
}

function directoryBytes(identifier: string, codeLimit: number): number {
  const slots = SPECIAL_SLOTS + Math.ceil(codeLimit / PAGE)
  return DIRECTORY_BYTES + Buffer.byteLength(identifier) + 1 + slots * SHA256.bytes
}

function superblob(directory: Buffer): Buffer {
  const blobs = [
    { slot: CODE_DIRECTORY.slot, bytes: directory },
    { slot: REQUIREMENTS.slot, bytes: requirements() },
    { slot: CMS.slot, bytes: toUint32Blob(CMS.magic, 8) },
  ]
  let end = 12 + blobs.length * 8
  const index = blobs.flatMap(({ slot, bytes }) => {
    const offset = end
    end += bytes.length
    return [slot, offset]
  })
  return Buffer.concat([
    toUint32Blob(SUPERBLOB, end, blobs.length, ...index),
    ...blobs.map(({ bytes }) => bytes),
  ])
}

function requirements(): Buffer {
  return toUint32Blob(REQUIREMENTS.magic, 12, 0)
}

function toUint32Blob(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length)
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value, 4 * index)
  return bytes
}

function sha256(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest()
}

function align(offset: number, to: number): number {
  return Math.ceil(offset / to) * to
}
