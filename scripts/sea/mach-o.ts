/** The parts of a Mach-O file that a signature depends on. Positions are offsets in the file. */
export interface MachO {
  commandCount: number
  /** The end of the load commands. */
  commandsEnd: number
  /** The beginning of the first section; the space between is free. */
  firstSection: number
  text: Segment
  linkedit: Segment
  /** The load command of an existing signature. */
  signature: { at: number; dataOffset: number } | undefined
}

interface Segment {
  /** The position of its load command. */
  at: number
  fileOffset: number
  fileSize: number
}

const MAGIC_64 = 0xfeedfacf
const HEADER_BYTES = 32
const LC_SEGMENT_64 = 0x19
const LC_CODE_SIGNATURE = 0x1d
const SEGMENT_BYTES = 72
const SECTION_BYTES = 80

/**
 * Reads the load commands of a 64-bit executable. Throws for any other file, and when a standard segment is
 * missing.
 */
export function readMachO(file: Buffer): MachO {
  if (file.length < HEADER_BYTES || file.readUInt32LE(0) !== MAGIC_64) {
    throw new Error('Cannot sign: this is no 64-bit Mach-O file')
  }
  const [commandCount, commandBytes] = [file.readUInt32LE(16), file.readUInt32LE(20)]
  const segments = new Map<string, Segment>()
  let signature: MachO['signature']
  let firstSection = Number.POSITIVE_INFINITY
  let at = HEADER_BYTES
  for (let count = 0; count < commandCount; count++) {
    const [command, size] = [file.readUInt32LE(at), file.readUInt32LE(at + 4)]
    if (command === LC_CODE_SIGNATURE) signature = { at, dataOffset: file.readUInt32LE(at + 8) }
    if (command === LC_SEGMENT_64) {
      segments.set(segmentName(file, at), segmentAt(file, at))
      firstSection = Math.min(firstSection, ...sectionOffsets(file, at))
    }
    at += size
  }
  const [text, linkedit] = [segments.get('__TEXT'), segments.get('__LINKEDIT')]
  if (!text || !linkedit) throw new Error('Cannot sign: it lacks the segments of an executable')
  const commandsEnd = HEADER_BYTES + commandBytes
  return { commandCount, commandsEnd, firstSection, text, linkedit, signature }
}

function segmentName(file: Buffer, at: number): string {
  return file.toString('latin1', at + 8, at + 24).replace(/\0+$/, '')
}

function segmentAt(file: Buffer, at: number): Segment {
  const [fileOffset, fileSize] = [file.readBigUInt64LE(at + 40), file.readBigUInt64LE(at + 48)]
  return { at, fileOffset: Number(fileOffset), fileSize: Number(fileSize) }
}

/** Returns the offsets of the sections that have bytes in the file. */
function sectionOffsets(file: Buffer, at: number): number[] {
  const count = file.readUInt32LE(at + 64)
  const offsets = Array.from({ length: count }, (_, index) =>
    file.readUInt32LE(at + SEGMENT_BYTES + index * SECTION_BYTES + 48),
  )
  return offsets.filter((offset) => offset > 0)
}
