/** Whether a text is an npm version and therefore safe as a folder name. */
export function isNpmVersion(text: string): boolean {
  return text.length <= 128 && /^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$/.test(text)
}

/**
 * Compares versions by precedence (Semantic Versioning 2.0.0, section 11); negative when `a` comes before
 * `b`.
 */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [readVersion(a), readVersion(b)]
  const core = compareLists(left.core, right.core)
  if (core !== 0) return core
  if (left.pre.length === 0 || right.pre.length === 0) return right.pre.length - left.pre.length
  return compareLists(left.pre, right.pre)
}

function readVersion(text: string): { core: string[]; pre: string[] } {
  const [bare = ''] = text.split('+')
  const dash = bare.indexOf('-')
  return {
    core: (dash < 0 ? bare : bare.slice(0, dash)).split('.'),
    pre: dash < 0 ? [] : bare.slice(dash + 1).split('.'),
  }
}

function compareLists(a: readonly string[], b: readonly string[]): number {
  for (const [i, part] of a.entries()) {
    const other = b[i]
    if (other === undefined) return 1
    const order = comparePart(part, other)
    if (order !== 0) return order
  }
  return a.length - b.length
}

/** Numeric identifiers come before alphanumeric ones. */
function comparePart(a: string, b: string): number {
  const [isNumber, isOtherNumber] = [/^\d+$/.test(a), /^\d+$/.test(b)]
  if (isNumber && isOtherNumber) return Number(a) - Number(b)
  if (isNumber !== isOtherNumber) return isNumber ? -1 : 1
  return a < b ? -1 : a > b ? 1 : 0
}
