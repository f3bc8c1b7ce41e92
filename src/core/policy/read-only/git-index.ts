import { Doubt } from './doubt.ts'

/**
 * Throws a Doubt for an index that makes git read outside of its own repository: one with submodules, with
 * names that lead out of the work tree (git opens them as they are), or with entries in another file. Also
 * throws for an index that is not understood.
 */
export function checkIndex(bytes: Buffer): void {
  const version = bytes.length < 12 || bytes.toString('latin1', 0, 4) !== 'DIRC' ? 0 : bytes.readUInt32BE(4)
  if (version !== 2 && version !== 3) throw new Doubt('.git/index has a version other than 2 or 3')
  let at = 12
  let isOutside = false
  for (let remaining = bytes.readUInt32BE(8); remaining > 0; remaining--) {
    if (at + ENTRY_BYTES > bytes.length) throw broken()
    if (bytes.readUInt32BE(at + MODE_AT) >>> 12 === GITLINK) throw new Doubt('the repository has sub-modules')
    const flags = bytes.readUInt16BE(at + FLAGS_AT)
    const begin = at + ENTRY_BYTES + ((flags & EXTENDED) === 0 ? 0 : 2)
    const end = bytes.indexOf(0, begin)
    // Git takes the length of the name from the flags.
    if (end < 0 || Math.min(end - begin, NAME_MASK) !== (flags & NAME_MASK)) throw broken()
    isOutside ||= leadsOut(bytes.toString('latin1', begin, end))
    at += (Math.floor((end - at) / 8) + 1) * 8
  }
  if (isSplit(bytes, at)) throw new Doubt('.git/index is split, and its other part is not checked')
  if (isOutside) throw new Doubt('.git/index names a file outside of the repository')
}

function broken(): Doubt {
  return new Doubt('.git/index is damaged')
}

/** Whether a name has a part that git itself never stores, on any system. */
function leadsOut(name: string): boolean {
  return name === '' || /(^|[\\/])\.{0,2}([\\/]|$)/.test(name) || /^[A-Za-z]:[\\/]/.test(name)
}

function isSplit(bytes: Buffer, extensions: number): boolean {
  let at = extensions
  while (at + 8 <= bytes.length - HASH_BYTES) {
    if (bytes.toString('latin1', at, at + 4) === 'link') return true
    at += 8 + bytes.readUInt32BE(at + 4)
  }
  return false
}

/**
 * Sizes and offsets of git's index format, versions 2 and 3 (gitformat-index): the bytes of an entry before
 * its name, and offsets in it.
 */
const ENTRY_BYTES = 62
const MODE_AT = 24
const FLAGS_AT = 60
const EXTENDED = 0x4000
const NAME_MASK = 0xfff
const GITLINK = 0o16
const HASH_BYTES = 20
