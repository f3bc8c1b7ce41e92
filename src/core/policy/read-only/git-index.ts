import { Doubt } from './doubt.ts'

/**
 * Throws a Doubt for an index that has git read more than its own repository: one with sub-modules, with names that lead
 * out of the work tree, which git opens as they are, or with entries elsewhere, and one that is not understood.
 */
export function checkIndex(bytes: Buffer): void {
  const version = bytes.length < 12 || bytes.toString('latin1', 0, 4) !== 'DIRC' ? 0 : bytes.readUInt32BE(4)
  if (version !== 2 && version !== 3) throw new Doubt('.git/index is of another version than 2 and 3')
  let at = 12
  let isOutside = false
  for (let left = bytes.readUInt32BE(8); left > 0; left--) {
    if (at + ENTRY_BYTES > bytes.length) throw broken()
    if (bytes.readUInt32BE(at + MODE_AT) >>> 12 === GITLINK) throw new Doubt('the repository has sub-modules')
    const flags = bytes.readUInt16BE(at + FLAGS_AT)
    const begin = at + ENTRY_BYTES + ((flags & EXTENDED) === 0 ? 0 : 2)
    const end = bytes.indexOf(0, begin)
    if (end < 0 || Math.min(end - begin, NAME_MASK) !== (flags & NAME_MASK)) throw broken() // git goes by the flags
    isOutside ||= leadsOut(bytes.toString('latin1', begin, end))
    at += (Math.floor((end - at) / 8) + 1) * 8
  }
  if (isSplit(bytes, at)) throw new Doubt('.git/index is split, and its other part is not looked through')
  if (isOutside) throw new Doubt('.git/index names a file outside of the repository')
}

function broken(): Doubt {
  return new Doubt('.git/index is damaged')
}

/** Returns whether a name has a part that git itself never stores, on any system. */
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

/** Git's index format, versions 2 and 3 (gitformat-index): bytes of an entry before its name, and offsets in it. */
const ENTRY_BYTES = 62
const MODE_AT = 24
const FLAGS_AT = 60
const EXTENDED = 0x4000
const NAME_MASK = 0xfff
const GITLINK = 0o16
const HASH_BYTES = 20
