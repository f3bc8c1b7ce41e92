import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { signAdHoc } from '../../scripts/sea/mach-o-signature.ts'

const PAGE = 4096
const FIRST_SECTION = 1024

test('signAdHoc() signs every page up to the signature, the last one up to its end', () => {
  const signed = signAdHoc(machO({ bytes: 3 * PAGE + 100 }), 'ai.example')
  const { codeLimit, end, directory, identifier, hashes } = readSignature(signed)
  assert.deepEqual([end, identifier], [signed.length, 'ai.example'])
  assert.equal(codeLimit % 16, 0)
  assert.deepEqual(directory, { version: 0x20400, flags: 2, hashType: 2, hashSize: 32, pageBits: 12 })
  assert.equal(hashes.length, 4)
  for (const [index, hash] of hashes.entries()) {
    const page = signed.subarray(index * PAGE, Math.min((index + 1) * PAGE, codeLimit))
    assert.equal(hash, createHash('sha256').update(page).digest('hex'), `page ${index}`)
  }
})

test('signAdHoc() names the executable segment, an empty set of requirements and no certificate', () => {
  const signed = signAdHoc(machO({ bytes: 2 * PAGE }), 'x')
  const { blobs, special, executable } = readSignature(signed)
  assert.deepEqual([...blobs.keys()], [0, 2, 0x10000])
  assert.deepEqual(executable, { base: 0n, limit: BigInt(PAGE), flags: 1n })
  assert.equal(special.get(1), '0'.repeat(64))
  assert.equal(special.get(2), createHash('sha256').update(blobs.get(2)!).digest('hex'))
})

test('signAdHoc() extends the header and the last segment over the signature', () => {
  const plain = machO({ bytes: 2 * PAGE })
  const signed = signAdHoc(plain, 'x')
  assert.equal(signed.readUInt32LE(16), plain.readUInt32LE(16) + 1)
  assert.equal(signed.readUInt32LE(20), plain.readUInt32LE(20) + 16)
  const linkedit = 32 + 152
  assert.equal(
    signed.readBigUInt64LE(linkedit + 40) + signed.readBigUInt64LE(linkedit + 48),
    BigInt(signed.length),
  )
  assert.equal(signed.readBigUInt64LE(linkedit + 32) % 0x4000n, 0n)
})

test('signAdHoc() replaces a signature of any size, and writes the same bytes each time', () => {
  const plain = machO({ bytes: 2 * PAGE + 7 })
  const once = signAdHoc(plain, 'x')
  assert.ok(signAdHoc(plain, 'x').equals(once))
  assert.ok(signAdHoc(once, 'x').equals(once))
  assert.ok(signAdHoc(signAdHoc(plain, 'a much longer name than that'), 'x').equals(once))
})

test('signAdHoc() rejects what it cannot sign', () => {
  assert.throws(
    () => signAdHoc(Buffer.from('#!/bin/sh\necho hi, this is a script\n'), 'x'),
    /no 64-bit Mach-O file/,
  )
  assert.throws(() => signAdHoc(machO({ bytes: PAGE * 2, firstSection: 32 + 152 + 72 + 8 }), 'x'), /no room/)
  const without = machO({ bytes: PAGE * 2 })
  without.write('__OTHER__', 32 + 152 + 8)
  assert.throws(() => signAdHoc(without, 'x'), /lacks the segments/)
})

/** Builds an executable with a code segment that has one section, and a segment that extends to the end. */
function machO({ bytes, firstSection = FIRST_SECTION }: { bytes: number; firstSection?: number }): Buffer {
  const file = Buffer.alloc(bytes, 'code')
  file.fill(0, 0, FIRST_SECTION)
  file.writeUInt32LE(0xfeedfacf, 0)
  file.writeUInt32LE(2, 16)
  file.writeUInt32LE(152 + 72, 20)
  segment(file, 32, { name: '__TEXT', size: 152, offset: 0, length: PAGE, sections: 1 })
  file.writeUInt32LE(firstSection, 32 + 72 + 48)
  segment(file, 32 + 152, { name: '__LINKEDIT', size: 72, offset: PAGE, length: bytes - PAGE, sections: 0 })
  return file
}

function segment(
  file: Buffer,
  at: number,
  {
    name,
    size,
    offset,
    length,
    sections,
  }: { name: string; size: number; offset: number; length: number; sections: number },
): void {
  file.writeUInt32LE(0x19, at)
  file.writeUInt32LE(size, at + 4)
  file.write(name, at + 8)
  file.writeBigUInt64LE(BigInt(offset), at + 40)
  file.writeBigUInt64LE(BigInt(length), at + 48)
  file.writeUInt32LE(sections, at + 64)
}

/** Reads a signature by the offsets of cs_blobs.h, beginning at the load command. */
function readSignature(file: Buffer) {
  const command = loadCommand(file, 0x1d)
  const [start, size] = [file.readUInt32LE(command + 8), file.readUInt32LE(command + 12)]
  const signature = file.subarray(start, start + size)
  assert.equal(signature.readUInt32BE(0), 0xfade0cc0)
  const blobs = new Map<number, Buffer>()
  for (let index = 0; index < signature.readUInt32BE(8); index++) {
    const offset = signature.readUInt32BE(16 + 8 * index)
    const length = signature.readUInt32BE(offset + 4)
    blobs.set(signature.readUInt32BE(12 + 8 * index), signature.subarray(offset, offset + length))
  }
  const cd = blobs.get(0)!
  const [hashOffset, name, specials, pages, codeLimit] = [16, 20, 24, 28, 32].map((at) => cd.readUInt32BE(at))
  const hashAt = (slot: number) => cd.toString('hex', hashOffset! + slot * 32, hashOffset! + (slot + 1) * 32)
  return {
    blobs,
    end: start + size,
    codeLimit: codeLimit!,
    identifier: cd.toString('utf8', name!, cd.indexOf(0, name!)),
    directory: {
      version: cd.readUInt32BE(8),
      flags: cd.readUInt32BE(12),
      hashSize: cd[36],
      hashType: cd[37],
      pageBits: cd[39],
    },
    executable: {
      base: cd.readBigUInt64BE(64),
      limit: cd.readBigUInt64BE(72),
      flags: cd.readBigUInt64BE(80),
    },
    hashes: Array.from({ length: pages! }, (_, page) => hashAt(page)),
    special: new Map(
      Array.from({ length: specials! }, (_, index) => [index + 1, hashAt(-index - 1)] as const),
    ),
  }
}

function loadCommand(file: Buffer, wanted: number): number {
  let at = 32
  for (let count = 0; count < file.readUInt32LE(16); count++) {
    if (file.readUInt32LE(at) === wanted) return at
    at += file.readUInt32LE(at + 4)
  }
  return assert.fail('there is no such load command')
}
