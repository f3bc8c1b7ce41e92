import compare from 'semver/functions/compare.js'
import satisfies from 'semver/functions/satisfies.js'
import valid from 'semver/functions/valid.js'
import validRange from 'semver/ranges/valid.js'

/**
 * Compares npm versions by precedence (Semantic Versioning 2.0.0, section 11); negative when `a` comes before
 * `b`. Throws for texts that isNpmVersion() refuses.
 */
export function compareVersions(a: string, b: string): number {
  return compare(a, b)
}

/**
 * Whether a version of Node satisfies an npm range, as in `engines` of package.json; undefined when the range
 * or the version cannot be parsed. Unlike in npm, a prerelease of Node counts as its version: a nightly build
 * of 22 is in `>=22`.
 */
export function isInRange(version: string, range: string): boolean | undefined {
  const [release = ''] = version.split('-')
  if (valid(release) === null || validRange(range) === null) return undefined
  return satisfies(release, range)
}
