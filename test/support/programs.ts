import { existsSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'

/** The variable with the folder of bundled programs, in a run of all tests. */
export const PROGRAMS_FOLDER = 'CRABTALK_TEST_PROGRAMS'
/** The variable that is 1 in a run of all tests from source, which bundles crabtalk as well. */
export const BUNDLES_CRABTALK = 'CRABTALK_TEST_BUNDLE'
export const ROOT = resolve(import.meta.dirname, '../..')

/**
 * Returns the file that Node runs for a program of the tests: its bundle if there is one, which starts in a
 * third of the time, otherwise its source. Callers name either by the absolute path of the source.
 */
export function programFile(source: string): string {
  const folder = process.env[PROGRAMS_FOLDER]
  const bundle = folder && join(folder, relative(ROOT, source).replace(/\.ts$/, '.mjs'))
  return bundle && existsSync(bundle) ? bundle : source
}
