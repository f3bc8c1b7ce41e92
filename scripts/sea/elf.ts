/** A section of an ELF file. */
export interface Section {
  /** The position of its header in the file. */
  header: number
  address: number
  offset: number
  size: number
}

/** A segment of an ELF file: what is mapped, and where. */
export interface Segment {
  /** The position of its header in the file. */
  header: number
  type: number
  offset: number
  address: number
  fileSize: number
  alignment: number
}

/** The parts of an ELF file that its dynamic symbols depend on. */
export interface Elf {
  sections: ReadonlyMap<string, Section>
  segments: readonly Segment[]
}

const ELF_64_LITTLE_ENDIAN = '7f454c460201'
const SEGMENT_BYTES = 56
const SECTION_BYTES = 64

/** Reads the headers of a 64-bit little-endian ELF file. Throws for any other file. */
export function readElf(file: Buffer): Elf {
  if (file.toString('hex', 0, 6) !== ELF_64_LITTLE_ENDIAN) throw new Error('this is not a 64-bit ELF file')
  const [segmentsAt, sectionsAt] = [readUint64(file, 32), readUint64(file, 40)]
  const segments = Array.from({ length: file.readUInt16LE(56) }, (_, index) =>
    readSegment(file, segmentsAt + index * SEGMENT_BYTES),
  )
  const headers = Array.from(
    { length: file.readUInt16LE(60) },
    (_, index) => sectionsAt + index * SECTION_BYTES,
  )
  const names = readUint64(file, headers[file.readUInt16LE(62)]! + 24)
  const sections = headers.map((header) => {
    const name = readCString(file, names + file.readUInt32LE(header))
    return [name, readSection(file, header)] as const
  })
  return { sections: new Map(sections), segments }
}

function readSegment(file: Buffer, header: number): Segment {
  return {
    header,
    type: file.readUInt32LE(header),
    offset: readUint64(file, header + 8),
    address: readUint64(file, header + 16),
    fileSize: readUint64(file, header + 32),
    alignment: readUint64(file, header + 48),
  }
}

function readSection(file: Buffer, header: number): Section {
  return {
    header,
    address: readUint64(file, header + 16),
    offset: readUint64(file, header + 24),
    size: readUint64(file, header + 32),
  }
}

/** Reads a 64-bit number. */
export function readUint64(file: Buffer, at: number): number {
  return Number(file.readBigUInt64LE(at))
}

/** Writes a 64-bit number. */
export function writeUint64(file: Buffer, at: number, value: number): void {
  file.writeBigUInt64LE(BigInt(value), at)
}

/** Reads a text that ends with a zero byte. */
export function readCString(file: Buffer, at: number): string {
  return file.toString('latin1', at, file.indexOf(0, at))
}
