/**
 * Returns the number of bytes to keep so that no UTF-8 character is cut at the end. Invalid bytes all count.
 */
export function wholeLength(bytes: Uint8Array): number {
  const lead = bytes.findLastIndex((byte, at) => !isContinuation(byte) || at === bytes.length - LONGEST)
  return lead < 0 || lead + lengthFrom(bytes[lead]!) <= bytes.length ? bytes.length : lead
}

/** Returns the index of the first complete UTF-8 character in bytes that may start within one. */
export function wholeStart(bytes: Uint8Array): number {
  const start = bytes.findIndex((byte, at) => !isContinuation(byte) || at === LONGEST - 1)
  return start < 0 ? bytes.length : start
}

function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80
}

/** Returns the number of bytes of the character that this byte begins. */
function lengthFrom(lead: number): number {
  return lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1
}

/** The number of bytes of the longest character. */
const LONGEST = 4
