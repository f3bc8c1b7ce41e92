import { existsSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'

/** The variable that says where bundles of programs lie, in a run of all tests. */
export const PROGRAMS_FOLDER = 'CRABTALK_TEST_PROGRAMS'
export const ROOT = resolve(import.meta.dirname, '../..')

/**
 * What Node starts for a program of the tests: its bundle where there is one, which starts in a third of the time, else
 * its source. The absolute path of the source stands for both.
 */
export function programFile(source: string): string {
  const folder = process.env[PROGRAMS_FOLDER]
  const bundle = folder && join(folder, relative(ROOT, source).replace(/\.ts$/, '.mjs'))
  return bundle && existsSync(bundle) ? bundle : source
}
