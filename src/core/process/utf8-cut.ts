/** How many of these bytes to keep so that no character of UTF-8 is cut off at the end; bytes that are none all count. */
export function wholeLength(bytes: Uint8Array): number {
  const lead = bytes.findLastIndex((byte, at) => !isContinuation(byte) || at === bytes.length - LONGEST)
  return lead < 0 || lead + lengthFrom(bytes[lead]!) <= bytes.length ? bytes.length : lead
}

/** Where the first whole character of UTF-8 begins in bytes that may start within one. */
export function wholeStart(bytes: Uint8Array): number {
  const start = bytes.findIndex((byte, at) => !isContinuation(byte) || at === LONGEST - 1)
  return start < 0 ? bytes.length : start
}

function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80
}

/** Bytes of the character that this byte begins. */
function lengthFrom(lead: number): number {
  return lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1
}

/** Bytes of the longest character. */
const LONGEST = 4
