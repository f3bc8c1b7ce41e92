import { type Elf, readCString, readElf, readUint64, type Section, writeUint64 } from './elf.ts'
import { type DynamicSymbol, hashSymbols } from './elf-hash.ts'

/** The sections about exported symbols, as they lie at the beginning of a program. */
const TABLES = ['.gnu.hash', '.dynsym', '.dynstr', '.gnu.version'] as const
/** The section that follows them: it stays where it is in memory, as everything after it does. */
const FOLLOWING_SECTION = '.gnu.version_r'

/** The entries of .dynamic that hold the address of each of the tables. */
const ADDRESS_TAGS = [0x6ffffef5, 6, 5, 0x6ffffff0]
const STRINGS_SIZE_TAG = 10
/** The entries of .dynamic that hold a name: needed libraries, the own name, search paths. */
const NAME_TAGS: ReadonlySet<number> = new Set([1, 14, 15, 29])
const PT_LOAD = 1
const SYMBOL_BYTES = 24

/**
 * Returns a program without the symbols it exports for add-ons. Those that its own relocations name stay,
 * under each of their names. Throws when the file has another layout.
 *
 * Code and data keep their addresses. What lies before the tables moves up in memory, so that the file has no
 * hole where the longer tables were.
 */
export function withoutExports(program: Buffer): Buffer {
  const file = Buffer.from(program)
  const elf = readElf(file)
  const [hash, following] = [requireSection(elf, TABLES[0]), requireSection(elf, FOLLOWING_SECTION)]
  requireOrder(elf)
  const { table, symbols } = hashSymbols(selectSymbols(file, elf))
  const strings = new Strings()
  const entries = symbols.map(({ name, entry }) => withName(entry, strings.put(name)))
  moveNames(file, elf, strings)
  moveRelocations(file, elf, symbols)
  const versions = Buffer.from(Uint16Array.from(symbols, ({ version }) => version).buffer)
  const parts = layOutTables([table, Buffer.concat(entries), strings.bytes(), versions], hash.offset)
  const end = parts.at(-1)!.offset + versions.length
  const page = Math.max(...elf.segments.map(({ alignment }) => alignment))
  const cut = Math.floor((following.offset - end) / page) * page
  moveTables(file, elf, { parts, cut })
  moveHeaders(file, elf, { from: hash.offset, to: following.offset, cut })
  file.fill(0, hash.offset, following.offset)
  for (const { bytes, offset } of parts) file.set(bytes, offset)
  return Buffer.concat([file.subarray(0, following.offset - cut), file.subarray(following.offset)])
}

/**
 * Requires that the tables lie together, in the first segment of the file, and that code cannot refer to the
 * sections before them, which get other addresses.
 */
function requireOrder(elf: Elf): void {
  const offsets = [...TABLES, FOLLOWING_SECTION].map((name) => requireSection(elf, name).offset)
  const [first, last] = [offsets[0]!, offsets.at(-1)!]
  const isApart = elf.sections
    .values()
    .every(({ offset }) => offset <= first || offset >= last || offsets.includes(offset))
  const isFirst = elf.segments.some(
    ({ type, offset, fileSize }) => type === PT_LOAD && offset === 0 && fileSize > last,
  )
  const isUnused = [...elf.sections].every(
    ([name, { address, offset }]) => address === 0 || offset >= first || /^\.(?:interp$|note)/.test(name),
  )
  const isSorted = offsets.every((offset, index) => index === 0 || offsets[index - 1]! < offset)
  if (!isApart || !isFirst || !isSorted) throw new Error('the symbol tables are not in the expected order')
  if (!isUnused) throw new Error('code may refer to a section before the symbol tables')
}

/** Returns the symbols that relocations refer to, and their aliases. */
function selectSymbols(file: Buffer, elf: Elf): DynamicSymbol[] {
  const symbols = readSymbols(file, elf)
  const used = new Set(relocations(elf).map((at) => file.readUInt32LE(at + 12)))
  const places = new Set(
    symbols.flatMap(({ index, isDefined, entry }) =>
      isDefined && used.has(index) ? [readUint64(entry, 8)] : [],
    ),
  )
  return symbols.filter(
    ({ index, isDefined, entry }) =>
      index === 0 || used.has(index) || (isDefined && places.has(readUint64(entry, 8))),
  )
}

function readSymbols(file: Buffer, elf: Elf): DynamicSymbol[] {
  const [names, versions] = [
    requireSection(elf, '.dynstr').offset,
    requireSection(elf, '.gnu.version').offset,
  ]
  return positions(requireSection(elf, '.dynsym'), SYMBOL_BYTES).map((at, index) => ({
    index,
    name: readCString(file, names + file.readUInt32LE(at)),
    entry: Buffer.from(file.subarray(at, at + SYMBOL_BYTES)),
    version: file.readUInt16LE(versions + 2 * index),
    isDefined: file.readUInt16LE(at + 6) !== 0,
  }))
}

function withName(entry: Buffer, name: number): Buffer {
  entry.writeUInt32LE(name, 0)
  return entry
}

/** Moves the names that .dynamic and the required versions refer to. */
function moveNames(file: Buffer, elf: Elf, strings: Strings): void {
  const names = requireSection(elf, '.dynstr').offset
  for (const at of positions(requireSection(elf, '.dynamic'), 16)) {
    if (NAME_TAGS.has(readUint64(file, at)))
      writeUint64(file, at + 8, strings.put(readCString(file, names + readUint64(file, at + 8))))
  }
  const move = (at: number) =>
    file.writeUInt32LE(strings.put(readCString(file, names + file.readUInt32LE(at))), at)
  for (const library of chain(file, requireSection(elf, FOLLOWING_SECTION).offset, 12)) {
    move(library + 4)
    for (const version of chain(file, library + file.readUInt32LE(library + 8), 12)) move(version + 8)
  }
}

/** Yields the positions of entries of which each tells how far away the next is; the last says zero. */
function* chain(file: Buffer, first: number, field: number): Generator<number> {
  for (let at = first; ; ) {
    yield at
    const step = file.readUInt32LE(at + field)
    if (step === 0) return
    at += step
  }
}

function moveRelocations(file: Buffer, elf: Elf, symbols: readonly DynamicSymbol[]): void {
  const moved = new Map(symbols.map(({ index }, place) => [index, place]))
  for (const at of relocations(elf)) file.writeUInt32LE(moved.get(file.readUInt32LE(at + 12))!, at + 12)
}

interface Part {
  bytes: Buffer
  /** Its position in the file. */
  offset: number
}

function layOutTables(tables: readonly Buffer[], from: number): Part[] {
  let end = from
  return tables.map((bytes) => {
    const offset = Math.ceil(end / 8) * 8
    end = offset + bytes.length
    return { bytes, offset }
  })
}

/** Writes the new places of the tables where the program and its section headers refer to them. */
function moveTables(file: Buffer, elf: Elf, { parts, cut }: { parts: readonly Part[]; cut: number }): void {
  for (const [index, name] of TABLES.entries()) {
    const { header, address, offset } = requireSection(elf, name)
    const part = parts[index]!
    const moved = address - offset + part.offset + cut
    writeUint64(file, header + 16, moved)
    writeUint64(file, header + 24, part.offset)
    writeUint64(file, header + 32, part.bytes.length)
    setEntry(file, elf, ADDRESS_TAGS[index]!, moved)
  }
  setEntry(file, elf, STRINGS_SIZE_TAG, parts[2]!.bytes.length)
}

function setEntry(file: Buffer, elf: Elf, tag: number, value: number): void {
  const at = positions(requireSection(elf, '.dynamic'), 16).find((at) => readUint64(file, at) === tag)
  if (at === undefined) throw new Error(`.dynamic has no entry ${tag}`)
  writeUint64(file, at + 8, value)
}

interface Cut {
  /** The positions in the file where the tables began, and where what follows them began. */
  from: number
  to: number
  /** The number of bytes removed between them. */
  cut: number
}

/** Writes what the cut moves: addresses before the tables, positions after them. */
function moveHeaders(file: Buffer, elf: Elf, { from, to, cut }: Cut): void {
  const add = (at: number, more: number) => writeUint64(file, at, readUint64(file, at) + more)
  for (const { header, offset, fileSize } of elf.segments) {
    if (offset >= to) add(header + 8, -cut)
    else if (fileSize > 0) {
      add(header + 16, cut)
      add(header + 24, cut)
    }
    if (offset < to && offset + fileSize > to) {
      add(header + 32, -cut)
      add(header + 40, -cut)
    }
  }
  for (const { header, offset, address } of elf.sections.values()) {
    if (offset >= to) add(header + 24, -cut)
    else if (offset < from && address > 0) add(header + 16, cut)
  }
  add(SECTION_HEADERS_AT, -cut)
}

const SECTION_HEADERS_AT = 40

/** The texts of a string table, each once. */
class Strings {
  readonly #places = new Map([['', 0]])
  #end = 1

  /** Returns the position of a text. */
  put(text: string): number {
    const known = this.#places.get(text)
    if (known !== undefined) return known
    const place = this.#end
    this.#places.set(text, place)
    this.#end += text.length + 1
    return place
  }

  bytes(): Buffer {
    return Buffer.from([...this.#places.keys()].map((text) => `${text}\0`).join(''), 'latin1')
  }
}

function relocations(elf: Elf): number[] {
  return ['.rela.dyn', '.rela.plt'].flatMap((name) => positions(requireSection(elf, name), 24))
}

/** Returns the position of each entry of a section. */
function positions({ offset, size }: Section, bytes: number): number[] {
  return Array.from({ length: size / bytes }, (_, index) => offset + index * bytes)
}

function requireSection(elf: Elf, name: string): Section {
  const section = elf.sections.get(name)
  if (section === undefined) throw new Error(`it has no ${name}`)
  return section
}
