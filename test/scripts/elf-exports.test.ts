import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { mkdtempDisposable } from 'node:fs/promises'
import { platform, tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { readCString, readElf } from '../../scripts/sea/elf.ts'
import { withoutExports } from '../../scripts/sea/elf-exports.ts'
import { type DynamicSymbol, hashSymbols } from '../../scripts/sea/elf-hash.ts'

const skip = platform() === 'linux' ? false : 'Node is an ELF file on Linux only'
/** Sets a variable through the C library and lists it through its `environ`; formats with ICU in a thread. */
const SCRIPT = `
const { Worker } = require('node:worker_threads')
process.env.CRAB_TEST = 'set'
const listed = Object.keys(process.env).includes('CRAB_TEST')
const date = 'new Date(0).toLocaleDateString("de", { timeZone: "Asia/Tokyo" })'
new Worker('require("node:worker_threads").parentPort.postMessage(' + date + ')', { eval: true })
  .on('message', (text) => console.log(listed, text, new (require('node:sqlite').DatabaseSync)(':memory:').isOpen))
`

test('withoutExports() makes a program that is smaller and runs', { skip }, async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  const [node, copy] = [readFileSync(process.execPath), join(folder.path, 'node')]
  const smaller = withoutExports(node)
  assert.ok(node.length - smaller.length > 3e6, `${node.length - smaller.length} bytes less`)
  writeFileSync(copy, smaller, { mode: 0o755 })
  const printed = execFileSync(copy, ['-e', SCRIPT], { encoding: 'utf8' })
  assert.equal(printed, 'true 1.1.1970 true\n')
  assert.ok(withoutExports(smaller).equals(smaller), 'a second time, nothing is left to remove')
})

test('withoutExports() keeps what libraries share with the program', { skip }, () => {
  const smaller = withoutExports(readFileSync(process.execPath))
  const { offset, size } = readElf(smaller).sections.get('.dynstr')!
  const names = smaller.toString('latin1', offset, offset + size).split('\0')
  for (const name of ['environ', '__environ', 'stdout', '_ZSt4cout', 'malloc', 'libc.so.6', 'GLIBC_2.4']) {
    assert.ok(names.includes(name), name)
  }
  assert.ok(!names.includes('napi_create_object'))
})

test('withoutExports() refuses what it does not know', () => {
  assert.throws(() => withoutExports(Buffer.from('#!/bin/sh\necho hi\n')), /not a 64-bit ELF file/)
  const empty = Buffer.alloc(256)
  empty.write('7f454c460201', 'hex')
  empty.writeUInt16LE(1, 60)
  assert.throws(() => withoutExports(empty), /it has no \.gnu\.hash/)
})

test('withoutExports() refuses a program whose code may refer to what would move', { skip }, () => {
  const program = readFileSync(process.execPath)
  const { header } = readElf(program).sections.get('.note.ABI-tag')!
  const { offset: names } = readElf(program).sections.get('.shstrtab')!
  program.write('.rodata1', names + program.readUInt32LE(header), 'latin1')
  assert.throws(() => withoutExports(program), /code may refer to a section before the symbol tables/)
})

test('hashSymbols() finds each defined symbol, and no other', () => {
  const all = Array.from({ length: 50 }, (_, index) => symbol(index, `name${index}`, index % 5 > 0))
  const { table, symbols } = hashSymbols(all)
  assert.equal(symbols.length, all.length)
  for (const { name, isDefined } of all) {
    assert.equal(lookUp(table, symbols, name), isDefined ? name : undefined, name)
  }
  assert.equal(lookUp(table, symbols, 'another'), undefined)
  assert.deepEqual(hashSymbols([symbol(0, '', false)]).symbols.length, 1)
})

test('readCString() reads up to a zero byte', () => {
  assert.equal(readCString(Buffer.from('one\0two\0'), 4), 'two')
})

function symbol(index: number, name: string, isDefined: boolean): DynamicSymbol {
  return { index, name, entry: Buffer.alloc(24), version: 1, isDefined }
}

/** Looks a name up as the dynamic linker does. */
function lookUp(table: Buffer, symbols: readonly DynamicSymbol[], name: string): string | undefined {
  const hash = Buffer.from(name).reduce((sum, byte) => (Math.imul(sum, 33) + byte) >>> 0, 5381)
  const [buckets, first, words, shift] = [0, 4, 8, 12].map((at) => table.readUInt32LE(at))
  assert.equal(words, 1)
  const bloom = table.readBigUInt64LE(16)
  for (const bit of [hash % 64, (hash >>> shift!) % 64]) if (!((bloom >> BigInt(bit)) & 1n)) return undefined
  let at = table.readUInt32LE(24 + 4 * (hash % buckets!))
  if (at === 0) return undefined
  for (; ; at++) {
    const known = table.readUInt32LE(24 + 4 * (buckets! + at - first!))
    if ((known | 1) >>> 0 === (hash | 1) >>> 0 && symbols[at]!.name === name) return name
    if (known & 1) return undefined
  }
}
