import { CrabError } from '../../core/base/errors.ts'
import type { ServiceSpec } from '../types.ts'

/** The maximum length of a description, in UTF-16 units: it comes from a package and is shown on one line. */
const MAX_DESCRIPTION = 200

/**
 * Matches what a unit file cannot hold: control characters (a line break would start a new directive), and
 * code points that are not characters in UTF-8 or XML.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it is meant to match them
const UNWRITABLE = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\ufffe\uffff]|\p{Surrogate}/u

/**
 * Checks that every value of a spec can be written literally. Throws `invalid` and names the first one that
 * cannot.
 */
export function checkSpec(spec: ServiceSpec): void {
  const { label, argv, cwd, env, envFile, output } = spec
  checkLiteral('its label', label, label)
  for (const [index, word] of argv.entries()) {
    checkLiteral(index === 0 ? 'its program' : `its argument ${index}`, word, label)
  }
  checkLiteral('its directory', cwd, label)
  checkLiteral('the path of its secrets', envFile, label)
  checkLiteral('the path of its output', output, label)
  for (const [name, value] of Object.entries(env)) checkVariable(name, value, label)
}

/**
 * Renders a description as one line without a trailing backslash; characters that cannot be written become
 * spaces.
 */
export function unitDescription({ name, description }: Pick<ServiceSpec, 'name' | 'description'>): string {
  const line = `crabtalk ${name}: ${description}`.slice(0, MAX_DESCRIPTION)
  return line
    .replaceAll(new RegExp(UNWRITABLE.source, 'gu'), ' ')
    .replaceAll(/\s+/g, ' ')
    .replace(/[\s\\]+$/, '')
}

function checkVariable(name: string, value: string, label: string): void {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
    throw unitError(label, `${JSON.stringify(name)} is not a valid variable name`)
  }
  checkLiteral(name, value, label)
}

function checkLiteral(what: string, value: string, label: string): void {
  if (!UNWRITABLE.test(value)) return
  throw unitError(
    label,
    `${what} contains a line break or another control character: ${JSON.stringify(value)}`,
  )
}

/** Returns the `invalid` error for a service whose unit cannot be written. */
export function unitError(label: string, why: string): CrabError {
  return new CrabError('invalid', `Cannot write a unit for ${label}: ${why}`, {
    hint: 'move or rename it',
  })
}
