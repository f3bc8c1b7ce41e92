import { CrabError } from '../../core/base/errors.ts'
import type { ServiceSpec } from '../types.ts'

/** Longest description, in UTF-16 units: it comes from a package, and is one line of a view. */
const MAX_DESCRIPTION = 200

/**
 * What no unit file can hold: control characters (a line break would be a new directive), and what is no character in
 * UTF-8 or XML.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const UNWRITABLE = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\ufffe\uffff]|\p{Surrogate}/u

/** Every value of a spec that a unit takes literally has to be writable: fails with `invalid` and says which is not. */
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

/** A description as one line that ends in nothing that means something; what cannot be written becomes a space. */
export function unitDescription({ name, description }: Pick<ServiceSpec, 'name' | 'description'>): string {
  const line = `crabtalk ${name}: ${description}`.slice(0, MAX_DESCRIPTION)
  return line
    .replaceAll(new RegExp(UNWRITABLE.source, 'gu'), ' ')
    .replaceAll(/\s+/g, ' ')
    .replace(/[\s\\]+$/, '')
}

function checkVariable(name: string, value: string, label: string): void {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
    throw unitError(label, `${JSON.stringify(name)} is no name of a variable`)
  }
  checkLiteral(name, value, label)
}

function checkLiteral(what: string, value: string, label: string): void {
  if (!UNWRITABLE.test(value)) return
  throw unitError(label, `${what} holds a line break or another control character: ${JSON.stringify(value)}`)
}

/** A service that no unit can be written for, as an error of kind `invalid`. */
export function unitError(label: string, why: string): CrabError {
  return new CrabError('invalid', `Cannot write a unit for ${label}: ${why}`, {
    hint: 'move or rename what has that name',
  })
}
