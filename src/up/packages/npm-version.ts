/**
 * Whether a text is a version of Semantic Versioning 2.0.0 and therefore safe as a folder name. It is apart from
 * versions.ts so that listing services loads no parser of ranges.
 */
export function isNpmVersion(text: string): boolean {
  return text.length <= 128 && VERSION.test(text)
}

const NUMBER = '(?:0|[1-9]\\d{0,14})'
/** An identifier of a prerelease: a number without leading zeros, or at least one letter or hyphen. */
const IDENTIFIER = `(?:(?:0|[1-9]\\d*)(?![\\da-zA-Z-])|\\d*[a-zA-Z-][\\da-zA-Z-]*)`
const VERSION = new RegExp(
  `^${NUMBER}\\.${NUMBER}\\.${NUMBER}(?:-${IDENTIFIER}(?:\\.${IDENTIFIER})*)?(?:\\+[\\da-zA-Z-]+(?:\\.[\\da-zA-Z-]+)*)?$`,
)
