/** A third-party work that is inside a program or a package made here. */
export interface Component {
  name: string
  version: string
  /** An SPDX expression. */
  license: string
  /** A package URL; unique in a list of components. */
  purl: string
  /** The type that CycloneDX gives it. */
  type: 'library' | 'platform' | 'application'
  /** A digest of its published package, in hexadecimal; undefined where no lock file has one. */
  hash?: { alg: 'SHA-256' | 'SHA-512'; content: string }
  /** Its name in the lists of known vulnerabilities. */
  cpe?: string
  /** Its license, and its notice where it has one, in full; never empty. */
  texts: readonly string[]
}

/** Sorts components by name, then by version, and drops those that occur twice. */
export function inOrder(components: readonly Component[]): Component[] {
  const unique = new Map(components.map((component) => [component.purl, component]))
  return unique
    .values()
    .toArray()
    .toSorted((a, b) => compare(a.name.toLowerCase(), b.name.toLowerCase()) || compare(a.purl, b.purl))
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** Unifies line ends and the space around a text, so that equal licenses are equal strings. */
export function tidy(text: string): string {
  return `${text
    .replaceAll('\r\n', '\n')
    .replaceAll(/[ \t]+$/gm, '')
    .trim()}\n`
}
